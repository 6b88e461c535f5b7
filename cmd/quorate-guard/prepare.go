package main

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/internal/agent"
)

const prepareHelp = `Decide how this member starts and write etcd's configuration: an init container.
Only after the verdict, and only if the configuration has a place for it, a new
member adds itself as a learner. A refusal is one line on stderr and in the
termination message, and an exit code of its own (see quorate-guard --help).`

// defaultPatience lets a pod show up as one that waits, before it is tried anew.
const defaultPatience = 5 * time.Minute

const defaultEtcdConfig = "/etc/etcd/etcd.yaml"

func newPrepareCommand() *cobra.Command {
	var c common
	var etcdConfig, message string
	var patience time.Duration
	cmd := &cobra.Command{
		Use: "prepare", Short: "Decide how this member starts, and write etcd's configuration", Long: prepareHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := c.agent(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			a.EtcdConfig, a.Patience = etcdConfig, patience
			err = a.Prepare(cmd.Context())
			if err != nil {
				err = errors.Join(err, terminate(message, agent.Reason(err)))
			}
			return err
		},
	}
	c.register(cmd.Flags())
	cmd.Flags().StringVar(&etcdConfig, "etcd-config", defaultEtcdConfig, "where etcd's configuration is written")
	cmd.Flags().StringVar(&message, "termination-message", "/dev/termination-log", "file that gets the reason of a failure, if it exists")
	cmd.Flags().DurationVar(&patience, "patience", defaultPatience, "how long to wait for what changes by itself")
	return cmd
}

// terminate writes the reason where the kubelet looks for it. Elsewhere there is
// no such file.
func terminate(path, reason string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(reason + "\n")
	return errors.Join(err, file.Close())
}
