package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
)

// findings are operations and everything that is held.
type findings struct {
	Operations []v1alpha1.TalosOperation `json:"operations"`
	Held       []heldObject              `json:"held"`
}

// heldObject is what waits for its release.
type heldObject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Cluster is the TalosCluster; empty for an Etcd.
	Cluster string `json:"cluster,omitempty"`
	// Epoch is the restore's.
	Epoch string `json:"epoch,omitempty"`
	// Then says what runs once it is released.
	Then string `json:"then"`

	created time.Time
}

func newOperationListCommand(o *operationOptions) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List operations, and everything that a restore holds",
		Example: `  quorate operation list -n factory
  quorate operation list -A -o json | jq -r '.held[] | "\(.kind) \(.name): \(.then)"'`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.list(cmd, all) },
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list those of all namespaces")
	addOutputFlag(cmd, &o.output, listFormats)
	o.addFlags(cmd)
	return cmd
}

func (o *operationOptions) list(cmd *cobra.Command, all bool) error {
	if err := checkOutput(o.output, listFormats); err != nil {
		return err
	}
	namespace, err := o.connect()
	if err != nil {
		return err
	}
	if all {
		namespace = ""
	}
	found, err := o.find(cmd.Context(), namespace)
	if err != nil {
		return err
	}
	if o.output != "table" {
		return printData(cmd.OutOrStdout(), found, o.output)
	}
	if len(found.Operations)+len(found.Held) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "No operations, and nothing is held.")
		return nil
	}
	return found.writeTable(cmd.OutOrStdout(), all, o.now())
}

// find lists what is in a namespace; in all if that is empty.
func (o *operationOptions) find(ctx context.Context, namespace string) (findings, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var (
		operations v1alpha1.TalosOperationList
		machines   v1alpha1.TalosMachineList
		etcds      v1alpha1.EtcdList
	)
	for what, list := range map[string]client.ObjectList{"TalosOperations": &operations, "TalosMachines": &machines, "Etcds": &etcds} {
		if err := o.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return findings{}, fmt.Errorf("list the %s: %w", what, err)
		}
	}
	found := findings{Operations: operations.Items, Held: []heldObject{}}
	for i := range operations.Items {
		found.add("TalosOperation", operations.Items[i].Spec.ClusterRef.Name, &operations.Items[i])
	}
	for i := range machines.Items {
		found.add("TalosMachine", machines.Items[i].Spec.ClusterRef.Name, &machines.Items[i])
	}
	for i := range etcds.Items {
		found.add("Etcd", "", &etcds.Items[i])
	}
	slices.SortFunc(found.Operations, func(a, b v1alpha1.TalosOperation) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return found, nil
}

// add notes an object if it is held.
func (f *findings) add(kind, cluster string, o client.Object) {
	if number, held := epoch.Held(o); held {
		f.Held = append(f.Held, heldObject{kind, o.GetNamespace(), o.GetName(), cluster, number, afterwards(o), o.GetCreationTimestamp().Time})
	}
}

// writeTable prints a line for each operation, and one for each other thing that is held.
func (f findings) writeTable(w io.Writer, namespaces bool, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(namespace string, columns ...string) {
		if namespaces {
			fmt.Fprintf(t, "%s\t", namespace)
		}
		for i, c := range columns {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, cmp.Or(c, "-"))
		}
		fmt.Fprintln(t)
	}
	line("NAMESPACE", "OBJECT", "CLUSTER", "PHASE", "STEP", "AGE", "MESSAGE")
	age := func(since time.Time) string { return duration.HumanDuration(now.Sub(since)) }
	for i := range f.Operations {
		op := &f.Operations[i]
		line(op.Namespace, subject{"TalosOperation", op.Name}.String(), op.Spec.ClusterRef.Name, phaseOf(op), stepOf(op), age(op.CreationTimestamp.Time), messageOf(op))
	}
	for _, h := range f.Held {
		if h.Kind != "TalosOperation" {
			line(h.Namespace, subject{h.Kind, h.Name}.String(), h.Cluster, string(v1alpha1.PhaseHeld), "", age(h.created), "Once it is released: "+h.Then)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
