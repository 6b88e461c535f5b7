package etcds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// listedAs are the bootstrap entries of a source's members.
func (p *plant) listedAs(ordinals ...int) (out []v1alpha1.BootstrapMember) {
	for _, i := range ordinals {
		out = append(out, v1alpha1.BootstrapMember{Name: p.pod(i), PeerURLs: []v1alpha1.URL{v1alpha1.URL(p.peer(i))}})
	}
	return out
}

// peer is a member's peer URL.
func (p *plant) peer(ordinal int) string {
	return fmt.Sprintf("http://%s.%s-peer.%s.svc:2380", p.pod(ordinal), p.name, p.ns)
}

// sourced makes an Etcd join the cluster of another, with those of its members listed.
func sourced(source *plant, ordinals ...int) func(*v1alpha1.Etcd) {
	return func(e *v1alpha1.Etcd) {
		e.Spec.Etcd.BootstrapWithExistingCluster = &v1alpha1.BootstrapWithExistingCluster{
			Members: source.listedAs(ordinals...), ClientEndpoints: []v1alpha1.URL{v1alpha1.URL(source.service())},
		}
	}
}

// join makes an Etcd in a namespace of its own that joins the source, and waits until
// it has.
func join(t *testing.T, source *plant, name string, replicas int, change ...func(*v1alpha1.Etcd)) *plant {
	t.Helper()
	p := &plant{t: t, ns: newNamespace(t), name: name}
	p.create(replicas, change...)
	p.until("all members to have joined", func(e *v1alpha1.Etcd) error {
		if c := condition(e, v1alpha1.ConditionBootstrappedWithExistingCluster); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonJoined {
			return errNotYet
		}
		return sharedAt(e, replicas)
	})
	if got, want := p.get().Status.ClusterID, source.get().Status.ClusterID; got != want {
		t.Errorf("joined cluster %s, want the source's %s", got, want)
	}
	p.written = slices.Clone(source.written)
	return p
}

// sharedAt is settledAt for an Etcd whose cluster has members of others too.
func sharedAt(e *v1alpha1.Etcd, replicas int) error {
	e = e.DeepCopy()
	e.Status.Members = slices.DeleteFunc(e.Status.Members, func(m v1alpha1.EtcdMember) bool { return !ownName(e.Name, m.Name) })
	return settledAt(e, replicas)
}

func ownName(etcd, member string) bool {
	for i := range 9 {
		if member == fmt.Sprintf("%s-%d", etcd, i) {
			return true
		}
	}
	return false
}

// shares waits until the Etcd has that many healthy voters in a shared cluster, and
// nothing left to do.
func (p *plant) shares(replicas int) {
	p.t.Helper()
	p.until(fmt.Sprintf("%d healthy members of its own and nothing left to do", replicas), func(e *v1alpha1.Etcd) error { return sharedAt(e, replicas) })
}

func condition(e *v1alpha1.Etcd, kind string) metav1.Condition {
	for _, c := range e.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// list sets the bootstrap list, as a person does; none unsets the field.
func (p *plant) list(members ...v1alpha1.BootstrapMember) error {
	body, err := json.Marshal(members)
	must(p.t, err)
	patch := fmt.Appendf(nil, `{"spec":{"etcd":{"bootstrapWithExistingCluster":{"members":%s}}}}`, body)
	if len(members) == 0 {
		patch = []byte(`{"spec":{"etcd":{"bootstrapWithExistingCluster":null}}}`)
	}
	return admin.Patch(p.t.Context(), p.get(), client.RawPatch("application/merge-patch+json", patch))
}

// recorded are the joined source members in status.
func recorded(e *v1alpha1.Etcd) (names []string) {
	for _, m := range e.Status.BootstrapWithExistingClusterMembers {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// lists compares the live list, as it is read through this Etcd, with names.
func (p *plant) lists(names ...string) {
	p.t.Helper()
	slices.Sort(names)
	must(p.t, cluster.Until(p.t.Context(), fmt.Sprintf("the members %v", names), func(context.Context) error {
		if got := p.names(); !slices.Equal(got, names) {
			return fmt.Errorf("%w: %v", errNotYet, got)
		}
		return nil
	}))
}

// podUIDs are those of the pods as they are now, by name.
func (p *plant) podUIDs() map[string]string {
	p.t.Helper()
	pods, err := p.pods(p.t.Context())
	must(p.t, err)
	out := map[string]string{}
	for _, pod := range pods {
		out[pod.Name] = string(pod.UID)
	}
	return out
}

// passes makes the controller look at the Etcd a number of times, each told by an
// annotation, and waits until each was seen.
func (p *plant) passes(n int) {
	p.t.Helper()
	for i := range n {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/look":"%d"}},"spec":{"progressDeadlineSeconds":%d}}`, i, 601+i)
		must(p.t, admin.Patch(p.t.Context(), p.get(), client.RawPatch("application/merge-patch+json", patch)))
		p.until("the controller to look again", func(e *v1alpha1.Etcd) error {
			if e.Status.ObservedGeneration != e.Generation {
				return errNotYet
			}
			return nil
		})
	}
}
