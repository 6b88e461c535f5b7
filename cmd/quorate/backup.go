package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/stored"
	"github.com/quorate/quorate/reconcilers/backup"
)

// backupOptions are those that all commands on backups share.
type backupOptions struct {
	flags  *genericclioptions.ConfigFlags
	output string
	// client is made from flags, and stores of it; a test sets all of these.
	client    client.WithWatch
	stores    backup.Stores
	inspector stored.Inspector
	now       func() time.Time
}

func newBackupOptions() *backupOptions {
	return &backupOptions{flags: newConfigFlags(), inspector: &snapshot.Worker{}, now: time.Now}
}

const backupHelp = `List the snapshots of a Talos cluster's etcd, take one now, and prove them.

A TalosEtcdBackup takes them on its schedule. Each is encrypted with a key that is
derived from the cluster's secrets bundle, read back from the object store and opened
before it is listed.`

func newBackupCommand() *cobra.Command {
	return newBackupCommandOf(newBackupOptions())
}

func newBackupCommandOf(o *backupOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "backup",
		Aliases: []string{"backups"},
		Short:   "List, take and prove snapshots of a Talos cluster's etcd",
		Long:    backupHelp,
		Args:    usageArgs(cobra.NoArgs),
		RunE:    showHelp,
	}
	cmd.AddCommand(newBackupListCommand(o), newBackupNowCommand(o), newBackupVerifyCommand(o))
	return cmd
}

// addFlags gives a command kubectl's flags.
func (o *backupOptions) addFlags(cmd *cobra.Command) {
	o.flags.AddFlags(cmd.Flags())
	addOutputFlag(cmd, &o.output, listFormats)
}

// connect makes the client, and finds the namespace.
func (o *backupOptions) connect() (namespace string, err error) {
	if err := checkOutput(o.output, listFormats); err != nil {
		return "", err
	}
	namespace, _, err = o.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("find the namespace: %w", err)
	}
	if o.client != nil {
		return namespace, nil
	}
	config, err := restConfig(o.flags)
	if err != nil {
		return "", err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return "", fmt.Errorf("build the scheme: %w", err)
		}
	}
	if o.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return "", fmt.Errorf("make a client: %w", err)
	}
	o.stores = backup.StoresBy(o.client)
	return namespace, nil
}

func (o *backupOptions) get(ctx context.Context, namespace, name string) (*v1alpha1.TalosEtcdBackup, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	b := &v1alpha1.TalosEtcdBackup{}
	if err := o.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, b); err != nil {
		return nil, fmt.Errorf("get talosetcdbackup/%s in %s: %w", name, namespace, err)
	}
	return b, nil
}
