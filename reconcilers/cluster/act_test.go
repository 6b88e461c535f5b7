package cluster

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/lease"
)

// put creates a machine, or makes it as given.
func (w *world) put(m *v1alpha1.TalosMachine) {
	w.t.Helper()
	m.ResourceVersion = ""
	err := w.api.Create(w.t.Context(), m)
	if apierrors.IsAlreadyExists(err) {
		have := &v1alpha1.TalosMachine{}
		if err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(m), have); err != nil {
			w.t.Fatal(err)
		}
		m.ResourceVersion = have.ResourceVersion
		err = w.api.Update(w.t.Context(), m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// other takes the cluster's lock as somebody else.
func (w *world) other(operation string) *lease.Held {
	w.t.Helper()
	locks := &lease.Locks{Live: w.api, Client: w.api, Clock: w.clock, Identity: "other"}
	held, err := locks.Take(w.t.Context(), quay, operation)
	if err != nil {
		w.t.Fatal(err)
	}
	return held
}

// cluster is the TalosCluster as the API server has it.
func (w *world) cluster() *v1alpha1.TalosCluster {
	w.t.Helper()
	c := &v1alpha1.TalosCluster{}
	if err := w.api.Get(w.t.Context(), quay, c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// edit changes the TalosCluster's status as somebody else.
func (w *world) edit(change func(*v1alpha1.TalosCluster)) {
	w.t.Helper()
	c := w.cluster()
	change(c)
	if err := w.api.Status().Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

// removed puts an entry of a member that was at a machine's place into the ledger.
func (w *world) removed(n int) {
	w.t.Helper()
	w.edit(func(c *v1alpha1.TalosCluster) {
		c.Status.ClusterID = "c1"
		c.Status.RemovedMembers = append(c.Status.RemovedMembers, v1alpha1.RemovedMember{
			ID: v1alpha1.HexID(fmt.Sprintf("%d", n)), Name: fmt.Sprintf("cp-%d", n), ClusterID: "c1", State: v1alpha1.RemovalConfirmed,
			PeerURLs: []v1alpha1.URL{v1alpha1.URL(fmt.Sprintf("https://192.0.2.%d:2380", n))}, At: metav1.NewTime(start),
		})
	})
}

// join adds a member at a machine's place, with an ID of its own.
func (w *world) join(id uint64, n int) {
	m := voter(n)
	m.ID = id
	w.members = append(w.members, m)
}
