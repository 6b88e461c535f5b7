package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/stored"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/reconcilers/backup"
)

var (
	errUnproved   = errors.New("a snapshot cannot be restored")
	errNoSnapshot = errors.New("the store has no whole snapshot of the cluster")
)

// proof is what came of looking at one snapshot.
type proof struct {
	Snapshot string   `json:"snapshot"`
	Good     bool     `json:"good"`
	Revision int64    `json:"revision,omitempty"`
	Keys     int64    `json:"keys,omitempty"`
	Members  []string `json:"members,omitempty"`
	Message  string   `json:"message,omitempty"`
}

type verifyOptions struct {
	all     bool
	scratch string
}

func newBackupVerifyCommand(o *backupOptions) *cobra.Command {
	var v verifyOptions
	cmd := &cobra.Command{
		Use:   "verify BACKUP [SNAPSHOT]",
		Short: "Read a snapshot from the store, decrypt it and open it",
		Long: `Read a snapshot from the store, decrypt it and open it, here and now.

It is the newest if none is named. You need to be allowed to get the TalosEtcdBackup, its
TalosCluster, and the Secrets of both. The snapshot lies in plain in a temporary file
while it is opened, and is gone afterwards.

Exit codes: 0 all can be restored, 1 one cannot or none was found, 2 usage.`,
		Example: `  quorate backup verify hourly -n factory
  quorate backup verify hourly etcd-20300102T150405Z.snapshot.age -n factory -o json`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error { return o.verify(cmd, args, v) },
	}
	cmd.Flags().BoolVar(&v.all, "all", false, "every snapshot, the newest first")
	cmd.Flags().StringVar(&v.scratch, "scratch", "", "folder for the temporary file; default: the system's")
	o.addFlags(cmd)
	return cmd
}

func (o *backupOptions) verify(cmd *cobra.Command, args []string, v verifyOptions) error {
	if v.all && len(args) > 1 {
		return usageError(errors.New("a snapshot and --all exclude each other"))
	}
	namespace, err := o.connect()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	b, err := o.get(ctx, namespace, args[0])
	if err != nil {
		return err
	}
	s, keys, err := o.open(ctx, b)
	if err != nil {
		return err
	}
	entries, err := chosen(ctx, s, b, keys.ClusterID, args[1:], v.all)
	if err != nil {
		return err
	}
	proofs := []proof{}
	for _, e := range entries {
		fmt.Fprintf(cmd.ErrOrStderr(), "Reading %s, %d bytes.\n", e.Name, e.Size)
		proofs = append(proofs, o.prove(ctx, s, keys.Key, v.scratch, e))
	}
	if err := o.printProofs(cmd.OutOrStdout(), proofs); err != nil {
		return err
	}
	if slices.ContainsFunc(proofs, func(p proof) bool { return !p.Good }) {
		return &exitError{exitFailed, errUnproved}
	}
	return nil
}

func (o *backupOptions) open(ctx context.Context, b *v1alpha1.TalosEtcdBackup) (store.Store, backup.Keys, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	cluster := &v1alpha1.TalosCluster{}
	if err := o.client.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.ClusterRef.Name}, cluster); err != nil {
		return nil, backup.Keys{}, fmt.Errorf("get taloscluster/%s in %s: %w", b.Spec.ClusterRef.Name, b.Namespace, err)
	}
	keys, err := backup.KeysOf(ctx, o.client, cluster)
	if err != nil {
		return nil, backup.Keys{}, err
	}
	s, err := o.stores(ctx, b)
	return s, keys, err
}

// chosen are the entries to look at, of the cluster of a secrets bundle.
func chosen(ctx context.Context, s store.Store, b *v1alpha1.TalosEtcdBackup, id string, names []string, all bool) ([]backup.Entry, error) {
	seen, err := backup.Read(ctx, s, b.Namespace, b.Spec.ClusterRef.Name, id)
	switch {
	case err != nil:
		return nil, err
	case len(seen.Whole) == 0:
		return nil, errNoSnapshot
	case all:
		return seen.Whole, nil
	case len(names) == 0:
		return seen.Whole[:1], nil
	}
	i := slices.IndexFunc(seen.Whole, func(e backup.Entry) bool { return e.Name == names[0] })
	if i < 0 {
		return nil, fmt.Errorf("%w by the name %s; quorate backup list %s shows those that it has", errNoSnapshot, names[0], b.Name)
	}
	return seen.Whole[i : i+1], nil
}

// prove looks at one, and compares it with what is written beside it.
func (o *backupOptions) prove(ctx context.Context, s store.Store, key *snapshot.Key, scratch string, e backup.Entry) proof {
	found, err := stored.Prove(ctx, s, key, o.inspector, scratch, e.Name)
	if err == nil && (found.Sum != e.PlainSum || found.Revision != e.Revision) {
		err = fmt.Errorf("%w: it is another one than is written beside it", snapshot.ErrDamaged)
	}
	if err != nil {
		return proof{Snapshot: e.Name, Message: err.Error()}
	}
	p := proof{Snapshot: e.Name, Good: true, Revision: found.Revision, Keys: found.Keys}
	for _, m := range found.Members {
		p.Members = append(p.Members, m.Name)
	}
	return p
}

func (o *backupOptions) printProofs(w io.Writer, proofs []proof) error {
	if o.output != "table" {
		return printData(w, proofs, o.output)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SNAPSHOT\tGOOD\tREVISION\tKEYS\tMEMBERS\tMESSAGE")
	for _, p := range proofs {
		if p.Good {
			fmt.Fprintf(t, "%s\tyes\t%d\t%d\t%s\t-\n", p.Snapshot, p.Revision, p.Keys, strings.Join(p.Members, ","))
		} else {
			fmt.Fprintf(t, "%s\tno\t-\t-\t-\t%s\n", p.Snapshot, p.Message)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
