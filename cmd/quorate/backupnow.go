package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// lookEvery is how often a request is looked at while one waits for it.
const lookEvery = time.Second

var errNotTaken = errors.New("the snapshot was not taken in time; it is still asked for")

func newBackupNowCommand(o *backupOptions) *cobra.Command {
	wait, timeout := true, 15*time.Minute
	cmd := &cobra.Command{
		Use:   "now BACKUP",
		Short: "Take a snapshot now, and wait until it is proved",
		Long: `Take a snapshot now, and wait until it is proved.

The controller takes it, as it takes those of the schedule. What it waits for is told
on standard error.

Exit codes: 0 taken and proved, or asked for with --wait=false; 1 not in time; 2 usage.`,
		Example: `  quorate backup now hourly -n factory`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.takeNow(cmd, args[0], wait, timeout)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", wait, "wait until it is proved")
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "how long to wait")
	o.addFlags(cmd)
	return cmd
}

func (o *backupOptions) takeNow(cmd *cobra.Command, name string, wait bool, timeout time.Duration) error {
	namespace, err := o.connect()
	if err != nil {
		return err
	}
	b, err := o.get(cmd.Context(), namespace, name)
	if err != nil {
		return err
	}
	asked := o.now().UTC().Format(time.RFC3339Nano)
	if err := o.ask(cmd.Context(), b, asked); err != nil {
		return err
	}
	if !wait {
		fmt.Fprintf(cmd.ErrOrStderr(), "Asked for a snapshot of cluster %s.\n", b.Spec.ClusterRef.Name)
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
	defer cancel()
	b, err = o.await(ctx, cmd.ErrOrStderr(), b, asked)
	if err != nil {
		return err
	}
	if len(b.Status.Snapshots) == 0 {
		return errNotTaken
	}
	taken := []listedSnapshot{{b.Namespace, b.Name, b.Spec.ClusterRef.Name, b.Status.Snapshots[0]}}
	if o.output != "table" {
		return printData(cmd.OutOrStdout(), taken[0], o.output)
	}
	return writeSnapshots(cmd.OutOrStdout(), taken, o.now())
}

func (o *backupOptions) ask(ctx context.Context, b *v1alpha1.TalosEtcdBackup, value string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	before := b.DeepCopy()
	metav1.SetMetaDataAnnotation(&b.ObjectMeta, v1alpha1.AnnotationBackupRequested, value)
	if err := o.client.Patch(ctx, b, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("ask for a snapshot: %w", err)
	}
	return nil
}

// await looks until the request is echoed, and tells what it waits for when that changes.
func (o *backupOptions) await(ctx context.Context, progress io.Writer, b *v1alpha1.TalosEtcdBackup, asked string) (*v1alpha1.TalosEtcdBackup, error) {
	told := ""
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		now, err := o.get(ctx, b.Namespace, b.Name)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		if err == nil && now.Status.ObservedBackupRequest == asked {
			return now, nil
		}
		if text := backupWaits(now); err == nil && text != told {
			fmt.Fprintln(progress, text)
			told = text
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", errNotTaken, ctx.Err())
		}
	}
}

// backupWaits is what stands in the way, else what goes on.
func backupWaits(b *v1alpha1.TalosEtcdBackup) string {
	if b == nil {
		return ""
	}
	for _, kind := range []string{v1alpha1.ConditionStalled, v1alpha1.ConditionReconciling} {
		if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil {
			return c.Message
		}
	}
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Status == metav1.ConditionFalse && c.Reason != v1alpha1.ReasonNoSnapshot {
		return c.Message
	}
	return "Waiting for the controller."
}
