package etcd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// way plays what answers at some endpoints.
type way struct {
	Cluster
	takes time.Duration
	err   error
	id    uint64
}

func (w way) View(ctx context.Context) (*etcdclient.View, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(w.takes):
		return &etcdclient.View{ClusterID: w.id}, w.err
	}
}

func (way) Close() error { return nil }

// The Service's answer counts where it comes; where it does not, the members' own
// does, long before the Service's deadline.
func TestListAsksByNameWhereTheServiceDoesNotAnswer(t *testing.T) {
	const atOnce, deadline = time.Millisecond, 10 * time.Second
	silent, refused := errors.New("the Service is silent"), errors.New("refused")
	for name, c := range map[string]struct {
		quorate       bool
		service, name way
		want          uint64
		within        time.Duration
		err           []error
	}{
		"the Service answers":                {true, way{takes: atOnce, id: 1}, way{takes: atOnce, id: 2}, 1, atOnce, nil},
		"a slow Service answers":             {true, way{takes: serviceFor / 2, id: 1}, way{takes: atOnce, id: 2}, 1, serviceFor / 2, nil},
		"a Service without endpoints":        {true, way{takes: deadline, err: silent}, way{takes: atOnce, id: 2}, 2, serviceFor + atOnce, nil},
		"a Service that refuses":             {true, way{takes: atOnce, err: refused}, way{takes: atOnce, id: 2}, 2, 2 * atOnce, nil},
		"both at once without quorum":        {false, way{takes: deadline, err: silent}, way{takes: atOnce, id: 2}, 2, atOnce, nil},
		"another cluster behind the Service": {true, way{takes: atOnce, err: etcdclient.ErrOtherCluster}, way{takes: atOnce, id: 2}, 0, atOnce, []error{etcdclient.ErrOtherCluster}},
		"nobody":                             {true, way{takes: atOnce, err: refused}, way{takes: deadline, err: silent}, 0, deadline + atOnce, []error{refused, silent}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { holdList(t, c.quorate, c.service, c.name, c.want, c.within, c.err) })
		})
	}
}

func holdList(t *testing.T, quorate bool, service, name way, want uint64, within time.Duration, wrong []error) {
	e := &v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "main"}, Spec: v1alpha1.EtcdSpec{Replicas: ptr.To(int32(1))}}
	setCondition(e, v1alpha1.ConditionQuorate, quorate, "Test", "", metav1.Now())
	c := &cycle{names: names{e}, etcd: e, Reconciler: &Reconciler{Dial: func(_ context.Context, o etcdclient.Options) (Cluster, error) {
		if strings.HasPrefix(o.Endpoints[0], "http://main.ns.svc") {
			return service, nil
		}
		return name, nil
	}}}
	began := time.Now()
	view, err := c.list(t.Context())
	if took := time.Since(began); took != within {
		t.Errorf("after %s, want %s", took, within)
	}
	for _, w := range wrong {
		if !errors.Is(err, w) {
			t.Errorf("%v, want %v", err, w)
		}
	}
	if len(wrong) == 0 && (err != nil || view.ClusterID != want) {
		t.Errorf("%v, %v, want the answer of %d", view, err, want)
	}
}
