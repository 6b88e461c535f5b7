package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/doctor"
	"github.com/quorate/quorate/internal/restoreplan"
)

type liveOptions struct {
	cluster, backup, snapshot string
	override, follow, yes     bool
	confirm                   string
	withoutUndo, weakStore    bool
	installation              string
}

func (o *liveOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.cluster, "cluster", "", "TalosCluster to restore; default: the only one of the namespace")
	flags.StringVar(&o.backup, "backup", "", "TalosEtcdBackup that has the snapshot; default: the only one of the cluster")
	flags.StringVar(&o.snapshot, "snapshot", "", "the snapshot's name; default with --live: the newest")
	flags.BoolVar(&o.override, "override", false, "say that losing all that came after the snapshot is meant; needs the verb override on the TalosCluster")
	flags.BoolVar(&o.follow, "follow", false, "show the restore until it ends")
	flags.BoolVar(&o.yes, "yes", false, "do not ask whether to go on; the cluster's name is wanted all the same")
	flags.StringVar(&o.confirm, "confirm", "", "the cluster's name, in place of typing it")
	flags.BoolVar(&o.withoutUndo, "without-undo", false, "take no snapshot of what is thrown away")
	flags.BoolVar(&o.weakStore, "allow-unconditional-store", false, "let an object store pass that ignores conditional writes")
	flags.StringVar(&o.installation, "installation", doctor.DefaultNames().Namespace, "namespace that Quorate is installed in")
}

var errNoOverride = errors.New("restoring a live cluster is refused without --override: everything that was written after the snapshot is lost. Give it if that is what you mean")

// restored is the outcome as data.
type restored struct {
	Plan      *restoreplan.Plan        `json:"plan"`
	Operation *v1alpha1.TalosOperation `json:"operation,omitempty"`
}

// live is one restore of a live cluster.
type live struct {
	liveOptions
	config *rest.Config
	kube   client.Client
	person *person
	stdout io.Writer
	output string
	plan   *restoreplan.Plan
	now    func() time.Time
}

func runLive(cmd *cobra.Command, flags *genericclioptions.ConfigFlags, o liveOptions, p *person, output string) error {
	if !o.override {
		return &exitError{exitFailed, errNoOverride}
	}
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return fmt.Errorf("find the namespace: %w", err)
	}
	l := &live{liveOptions: o, person: p, stdout: cmd.OutOrStdout(), output: output, now: time.Now}
	if l.config, err = restConfig(flags); err != nil {
		return err
	}
	if l.kube, err = newKube(l.config); err != nil {
		return err
	}
	return l.run(cmd.Context(), namespace)
}

func (l *live) run(ctx context.Context, namespace string) error {
	if err := l.makePlan(ctx, namespace); err != nil {
		return err
	}
	op, err := l.order(ctx)
	if op != nil {
		err = errors.Join(err, l.tell(op))
	} else if l.output != "table" {
		err = errors.Join(err, printData(l.stdout, restored{Plan: l.plan}, l.output))
	}
	return err
}

// makePlan prints the plan where a person reads: beside the data, if data is wanted.
func (l *live) makePlan(ctx context.Context, namespace string) (err error) {
	l.plan, err = restoreplan.Make(ctx, l.kube, restoreplan.Reacher(l.kube), restoreplan.Request{
		Namespace: namespace, Cluster: l.cluster, Backup: l.backup, Snapshot: l.snapshot,
		WithoutUndo: l.withoutUndo, AllowUnconditionalStore: l.weakStore, Installation: l.installation, Quorate: buildVersion(version, debug.ReadBuildInfo),
	}, l.now())
	if errors.Is(err, restoreplan.ErrChoice) {
		return usageError(err)
	}
	if err != nil {
		return err
	}
	w := l.stdout
	if l.output != "table" {
		w = l.person.err
	}
	return l.plan.WriteText(w)
}

// order has everything in its way say so, asks, and creates the operation. It gives the
// operation as it is at the end, if it was created.
func (l *live) order(ctx context.Context) (*v1alpha1.TalosOperation, error) {
	if n := len(l.plan.Blocked); n > 0 {
		return nil, fmt.Errorf("the restore cannot begin, for the reasons that the plan ends with (%d)", n)
	}
	if err := mayOverride(ctx, l.kube, l.plan.Namespace, l.plan.Cluster); err != nil {
		return nil, err
	}
	if err := l.agree(); err != nil {
		return nil, err
	}
	f, err := l.follower(ctx)
	if err != nil {
		return nil, err
	}
	op := l.operation()
	op.Annotations = requester(ctx, l.kube)
	if err := l.kube.Create(ctx, op); err != nil {
		return nil, fmt.Errorf("create the operation: %w", err)
	}
	if f == nil {
		return op, nil
	}
	f.say("operation %s is created", op.Name)
	f.op = op
	ended, err := f.follow(ctx)
	if ended == nil {
		return op, err
	}
	return ended, errors.Join(err, ending(ended))
}

func (l *live) agree() error {
	if !l.yes {
		if err := l.person.agree(fmt.Sprintf("\nRestore etcd of cluster %s?", l.plan.ConfirmName)); err != nil {
			return err
		}
	}
	return l.person.confirm(l.plan.ConfirmName, l.confirm, "The cluster's name, to be sure: ")
}

func (l *live) operation() *v1alpha1.TalosOperation {
	p := l.plan
	return &v1alpha1.TalosOperation{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Cluster + "-restore-" + l.now().UTC().Format("20060102-150405")},
		Spec: v1alpha1.TalosOperationSpec{
			Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: p.Cluster},
			EtcdRestore: &v1alpha1.EtcdRestoreSpec{
				BackupRef: v1alpha1.LocalRef{Name: p.Backup}, Snapshot: p.Snapshot, Confirm: p.ConfirmName,
				WithoutUndo: l.withoutUndo, AllowUnconditionalStore: l.weakStore,
			},
		},
	}
}

func (l *live) tell(op *v1alpha1.TalosOperation) error {
	if l.output != "table" {
		return printData(l.stdout, restored{l.plan, op}, l.output)
	}
	_, err := fmt.Fprintf(l.stdout, "talosoperation.quorate.dev/%s %s\n", op.Name, strings.ToLower(phaseOf(op)))
	return err
}
