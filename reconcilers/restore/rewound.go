package restore

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// rewound moves a marker to Rejoining whose operation is gone from an API server that
// answers, since the rewind took it. That an operation is missing proves nothing by itself:
// a person may have removed it by force. So etcd has to say that it is the recovered one;
// where it does not, the job goes on at its step, and moves the marker when etcd does.
func (r *Resume) rewound(ctx context.Context, f found) error {
	m := f.marker
	if m.Step != v1alpha1.StepWiping && m.Step != v1alpha1.StepRecovering {
		return nil
	}
	if err := r.proof(ctx, f); err != nil {
		r.Log.Info("the operation of a restore is gone, and it is not proved that etcd is rewound: the job goes on at its step", "step", m.Step, "why", err.Error())
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	m.Step = v1alpha1.StepRejoining
	if _, err := (restore.Markers{Store: f.store}).Save(ctx, m, f.version); err != nil {
		return fmt.Errorf("move the marker to %s: %w", m.Step, err)
	}
	r.Log.Info("the rewind has happened: the marker of the restore is moved", "step", m.Step, "operation", OperationName(m))
	return nil
}

// proofTimeout bounds what the control planes' etcd is asked.
const proofTimeout = 30 * time.Second

// proof fails unless the etcd of the marker's nodes is at a revision that only the
// recovered one has.
func (r *Resume) proof(ctx context.Context, f found) error {
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	key := types.NamespacedName{Namespace: f.backup.Namespace, Name: f.backup.Spec.ClusterRef.Name}
	cluster, err := get(ctx, r.Live, key, &v1alpha1.TalosCluster{})
	switch {
	case err != nil:
		return err
	case cluster == nil:
		return fmt.Errorf("there is no TalosCluster %s", key)
	}
	answer, err := r.Recovered(ctx, cluster, f.marker)
	return recovered(answer, err, f.marker)
}

// recovered fails unless an answer of etcd is the recovered one's.
func recovered(answer restore.Probe, err error, m *restore.Marker) error {
	if err == nil && answer.Revision < m.Pinned.Floor {
		return fmt.Errorf("it is at revision %d, and the recovered etcd is at %d at least", answer.Revision, m.Pinned.Floor)
	}
	return err
}
