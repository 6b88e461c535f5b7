package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// listedSnapshot is a snapshot with where it belongs.
type listedSnapshot struct {
	Namespace string `json:"namespace"`
	Backup    string `json:"backup"`
	Cluster   string `json:"cluster"`
	v1alpha1.Snapshot
}

func newBackupListCommand(o *backupOptions) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "list [BACKUP]",
		Short: "List whole snapshots, the newest first",
		Example: `  quorate backup list -n factory
  quorate backup list hourly -n factory -o json | jq -r '.[0].name'`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return o.list(cmd, args, all) },
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list those of all namespaces")
	o.addFlags(cmd)
	return cmd
}

func (o *backupOptions) list(cmd *cobra.Command, args []string, all bool) error {
	if all && len(args) > 0 {
		return usageError(fmt.Errorf("a name and --all-namespaces exclude each other"))
	}
	namespace, err := o.connect()
	if err != nil {
		return err
	}
	backups, err := o.backups(cmd.Context(), namespace, args, all)
	if err != nil {
		return err
	}
	found := []listedSnapshot{}
	for _, b := range backups {
		for _, s := range b.Status.Snapshots {
			found = append(found, listedSnapshot{b.Namespace, b.Name, b.Spec.ClusterRef.Name, s})
		}
	}
	if o.output != "table" {
		return printData(cmd.OutOrStdout(), found, o.output)
	}
	if len(found) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "No snapshots. kubectl describe talosetcdbackups says what they wait for.")
		return nil
	}
	return writeSnapshots(cmd.OutOrStdout(), found, o.now())
}

func (o *backupOptions) backups(ctx context.Context, namespace string, args []string, all bool) ([]v1alpha1.TalosEtcdBackup, error) {
	if len(args) > 0 {
		b, err := o.get(ctx, namespace, args[0])
		if err != nil {
			return nil, err
		}
		return []v1alpha1.TalosEtcdBackup{*b}, nil
	}
	if all {
		namespace = ""
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var list v1alpha1.TalosEtcdBackupList
	if err := o.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the TalosEtcdBackups: %w", err)
	}
	return list.Items, nil
}

func writeSnapshots(w io.Writer, found []listedSnapshot, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "BACKUP\tCLUSTER\tSNAPSHOT\tAGE\tBYTES\tREVISION\tVERIFIED\tUNDO OF")
	for _, s := range found {
		verified := "never"
		if s.Verified != nil {
			verified = duration.HumanDuration(now.Sub(s.Verified.Time)) + " ago"
		}
		fmt.Fprintf(t, "%s/%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", s.Namespace, s.Backup, s.Cluster, s.Name,
			duration.HumanDuration(now.Sub(s.Time.Time)), s.Size, s.Revision, verified, cmp.Or(s.UndoOf, "-"))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
