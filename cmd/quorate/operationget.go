package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/quorate/quorate/api/v1alpha1"
)

func newOperationGetCommand(o *operationOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             "Show an operation with its conditions",
		Example:           `  quorate operation get rewind -n factory`,
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: o.complete(false),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.get(cmd, args[0]) },
	}
	addOutputFlag(cmd, &o.output, listFormats)
	o.addFlags(cmd)
	return cmd
}

func (o *operationOptions) get(cmd *cobra.Command, arg string) error {
	if err := checkOutput(o.output, listFormats); err != nil {
		return err
	}
	namespace, err := o.connect()
	if err != nil {
		return err
	}
	op, err := o.operationOf(cmd.Context(), namespace, arg)
	if err != nil {
		return err
	}
	return printOperation(cmd.OutOrStdout(), op, o.output, o.now())
}

// printOperation writes it whole as data, or what people ask of it as a table.
func printOperation(w io.Writer, op *v1alpha1.TalosOperation, output string, now time.Time) error {
	if output != "table" {
		op.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("TalosOperation"))
		op.ManagedFields = nil
		return printData(w, op, output)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range fieldsOf(op) {
		if f[1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", f[0], f[1])
		}
	}
	if len(op.Status.Conditions) > 0 {
		fmt.Fprintln(t, "\nCONDITION\tSTATUS\tREASON\tSINCE\tMESSAGE")
	}
	for _, c := range op.Status.Conditions {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", c.Type, c.Status, c.Reason, duration.HumanDuration(now.Sub(c.LastTransitionTime.Time)), cmp.Or(c.Message, "-"))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

func fieldsOf(op *v1alpha1.TalosOperation) [][2]string {
	out := [][2]string{
		{"Operation", op.Namespace + "/" + op.Name}, {"Kind", op.Spec.Kind}, {"Cluster", op.Spec.ClusterRef.Name},
		{"Phase", phaseOf(op)}, {"Step", stepOf(op)}, {"Message", messageOf(op)},
	}
	if r := op.Spec.EtcdRestore; r != nil {
		out = append(out, [2]string{"Snapshot", r.Snapshot}, [2]string{"Backup", r.BackupRef.Name})
	}
	if s := op.Status.EtcdRestore; s != nil {
		out = append(out, [2]string{"Target", s.Target})
		if s.SnapshotTime != nil {
			out = append(out, [2]string{"Snapshot of", s.SnapshotTime.UTC().Format(time.RFC3339)})
		}
	}
	return out
}
