package main

import (
	"github.com/spf13/cobra"
)

const serveHelp = `Answer readiness by a linearizable read through the member, promote it as soon as
etcd allows that, and keep etcd's configuration true while the pod lives: a sidecar. /readyz is 503 with the reason while the member does
not serve; /healthz is always 200.`

func newServeCommand() *cobra.Command {
	var c common
	var address, etcdConfig string
	cmd := &cobra.Command{
		Use: "serve", Short: "Answer readiness, and promote the member", Long: serveHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := c.agent(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			a.EtcdConfig = etcdConfig
			return a.Serve(cmd.Context(), address)
		},
	}
	c.register(cmd.Flags())
	cmd.Flags().StringVar(&etcdConfig, "etcd-config", defaultEtcdConfig, "etcd's configuration, which is kept true: a container that starts again is not prepared again")
	cmd.Flags().StringVar(&address, "bind-address", ":8081", "host:port of the probes")
	return cmd
}
