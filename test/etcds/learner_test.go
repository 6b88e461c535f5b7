package etcds

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

// A learner whose pod is lost would let nobody else join, since etcd takes one learner
// at a time: it is removed, the next one joins, and it joins again when it has a node.
func TestLostLearnerMakesWay(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	housed := p.unschedulable(3)
	fifth := types.NamespacedName{Namespace: p.ns, Name: p.pod(4)}
	hold(fifth, true)
	t.Cleanup(func() { hold(fifth, false) })
	p.scale(5)
	p.podsAre(5)
	// Its agent had it added before its pod was lost.
	added := p.addLearner(3)
	hold(fifth, false)
	p.until("member 4 to be a voter, and 3 none", func(*v1alpha1.Etcd) error {
		_, lost := p.find(added)
		m, joined := p.at(4)
		if lost || !joined || m.Learner || !m.Started {
			return errNotYet
		}
		return nil
	})
	housed()
	p.settled(5)
	p.want(5)
	p.kept()
	if _, back := p.find(added); back {
		t.Errorf("the lost learner %x is back", added)
	}
}

// addLearner is what a member's agent does before its pod is lost.
func (p *plant) addLearner(ordinal int) (id uint64) {
	p.t.Helper()
	c := p.client()
	must(p.t, cluster.Until(p.t.Context(), "etcd to have seen its members connected for a while", func(ctx context.Context) (err error) {
		id, err = etcdcluster.AddLearner(ctx, c, p.peerURL(ordinal))
		return err
	}))
	return id
}

func (p *plant) peerURL(ordinal int) string {
	return fmt.Sprintf("http://%s.%s-peer.%s.svc:2380", p.pod(ordinal), p.name, p.ns)
}

// A quota leaves the lost learner without even a pod: it makes way all the same, and
// the status has the quota's words.
func TestLearnerWithoutPodMakesWay(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	quota := p.quota(3)
	p.scale(5)
	added := p.addLearner(3)
	p.until("the quota's words", func(e *v1alpha1.Etcd) error { return waitsFor(e, "exceeded quota: small") })
	p.until("the learner to be gone", func(*v1alpha1.Etcd) error {
		if _, listed := p.find(added); listed {
			return errNotYet
		}
		return nil
	})
	must(t, admin.Delete(t.Context(), quota))
	p.settled(5)
	p.want(5)
	p.kept()
}

// quota lets no more pods be made than that, once it is counted.
func (p *plant) quota(pods int64) *corev1.ResourceQuota {
	p.t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: "small"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)}},
	}
	must(p.t, admin.Create(p.t.Context(), quota))
	must(p.t, cluster.Until(p.t.Context(), "the quota to be counted", func(ctx context.Context) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil || len(quota.Status.Used) == 0 {
			return fmt.Errorf("%w: %v", errNotYet, err)
		}
		return nil
	}))
	return quota
}
