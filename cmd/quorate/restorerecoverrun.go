package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/recovercluster"
	"github.com/quorate/quorate/internal/restore"
)

// recovered is the outcome as data.
type recovered struct {
	Plan       *recovercluster.Plan `json:"plan"`
	Outcome    restore.Outcome      `json:"outcome,omitempty"`
	Why        string               `json:"why,omitempty"`
	ExtraWipes int                  `json:"extra_wipes,omitempty"`
	// LeftOut says of each machine that was left out what a person has to do with it.
	LeftOut []string `json:"left_out,omitempty"`
}

// requesterHere is who the marker names.
func requesterHere() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	return name + " on " + host + ", by quorate restore --recover-cluster"
}

// recoverReport shows the job as an operation is shown.
func recoverReport(w io.Writer) func(restore.Progress) {
	shown := newOperationProgress(w, time.Now)
	began := metav1.Now()
	return func(at restore.Progress) {
		shown.show(&v1alpha1.TalosOperation{
			ObjectMeta: metav1.ObjectMeta{Name: "recover-cluster", CreationTimestamp: began},
			Spec:       v1alpha1.TalosOperationSpec{EtcdRestore: &v1alpha1.EtcdRestoreSpec{}},
			Status:     v1alpha1.TalosOperationStatus{Phase: v1alpha1.PhaseRunning, EtcdRestore: &v1alpha1.EtcdRestoreStatus{Step: at.Step, Message: at.Note}},
		}, "")
	}
}

// recoverCluster shows the plan, asks, and works.
func recoverCluster(ctx context.Context, r *recovercluster.Recovery, said liveOptions, p *person, stdout io.Writer, output string) error {
	plan, err := r.Prepare(ctx)
	if errors.Is(err, recovercluster.ErrIncomplete) {
		return usageError(err)
	}
	if err != nil {
		return err
	}
	w := stdout
	if output != "table" {
		w = p.err
	}
	if err := plan.WriteText(w); err != nil {
		return err
	}
	if !said.yes {
		if err := p.agree(fmt.Sprintf("\nRecover etcd of cluster %s?", plan.Cluster)); err != nil {
			return err
		}
	}
	if err := p.confirm(plan.Cluster, said.confirm, "The cluster's name, to be sure: "); err != nil {
		return err
	}
	result, err := r.Run(ctx, plan)
	if ctx.Err() != nil {
		return fmt.Errorf("the restore was stopped. If the store has its marker by now, the same command goes on with it: %w", errors.Join(ctx.Err(), err))
	}
	if err != nil {
		return err
	}
	return tellRecovered(stdout, plan, result, output)
}

// workersText: the command knows no workers, as it asks no Kubernetes.
const workersText = "Workers were not touched, and their kubelets may hold what was before. The controller restarts them once the API answers; where no controller runs, do so: talosctl -n WORKER service kubelet restart."

func tellRecovered(w io.Writer, plan *recovercluster.Plan, result restore.Result, output string) error {
	var err error
	switch {
	case output != "table":
		err = printData(w, recovered{plan, result.Outcome, result.Why, result.Marker.ExtraWipes, result.Marker.LeftOutText()}, output)
	case result.Outcome == restore.Done:
		_, err = fmt.Fprintf(w, "etcd of cluster %s is recovered and complete, after %d extra wipes. Once the API answers, the controller does the rest: see quorate operation list.\n", plan.Cluster, result.Marker.ExtraWipes)
		if _, more := fmt.Fprintln(w, workersText); more != nil {
			err = errors.Join(err, more)
		}
		if undo := result.Marker.Pinned.Undo; undo != "" {
			_, more := fmt.Fprintf(w, "What it was before is in snapshot %s.\n", undo)
			err = errors.Join(err, more)
		}
		texts := result.Marker.LeftOutText()
		if plan.Afterwards != "" {
			texts = append(texts, plan.Afterwards)
		}
		for _, text := range texts {
			_, more := fmt.Fprintln(w, text)
			err = errors.Join(err, more)
		}
	}
	if err != nil || result.Outcome == restore.Done {
		return err
	}
	return &exitError{exitFailed, fmt.Errorf("the restore is not done (%s): %s", strings.ToLower(string(result.Outcome)), result.Why)}
}
