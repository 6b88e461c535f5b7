package restore

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var agentsBegin = time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)

func agentPod(name string, age time.Duration, ready, going bool) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(agentsBegin.Add(-age))}}
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if going {
		at := metav1.NewTime(agentsBegin)
		p.DeletionTimestamp = &at
	}
	return p
}

// A node's kubelet comes first, then the pods that are older than its restart go, and
// their successors are awaited; each by name.
//
// covers: C-21
func TestRenew(t *testing.T) {
	well := host{name: "worker-1", found: true, ready: true, beat: agentsBegin.Add(time.Second), wants: []string{"kube-proxy"}}
	with := func(h host, pods ...corev1.Pod) host {
		for _, p := range pods {
			h.agents = append(h.agents, agent{"kube-proxy", p})
		}
		return h
	}
	silent, unready, absent := well, well, host{name: "worker-1"}
	silent.beat, unready.ready = agentsBegin, false
	for _, c := range []struct {
		label         string
		host          host
		delete, waits []string
	}{
		{"no Node", absent, nil, []string{"Node worker-1, which the API server does not have"}},
		{"no heartbeat since", with(silent, agentPod("kube-proxy-a", time.Hour, true, false)), nil,
			[]string{"a heartbeat of Node worker-1 from after 2030-01-02T15:04:05Z, when its kubelet was restarted"}},
		{"not Ready", with(unready, agentPod("kube-proxy-a", time.Hour, true, false)), nil, []string{"Node worker-1 to be Ready"}},
		{"an old pod", with(well, agentPod("kube-proxy-a", time.Hour, true, false)), []string{"kube-proxy-a"},
			[]string{"pod kube-proxy-a of Node worker-1 to go", "a new pod of kube-proxy on Node worker-1 to be Ready"}},
		{"an old pod on its way", with(well, agentPod("kube-proxy-a", time.Hour, true, true)), nil,
			[]string{"pod kube-proxy-a of Node worker-1 to go", "a new pod of kube-proxy on Node worker-1 to be Ready"}},
		{"old and new", with(well, agentPod("kube-proxy-a", time.Hour, true, true), agentPod("kube-proxy-b", -time.Second, true, false)), nil,
			[]string{"pod kube-proxy-a of Node worker-1 to go"}},
		{"a new pod that starts", with(well, agentPod("kube-proxy-b", -time.Second, false, false)), nil,
			[]string{"a new pod of kube-proxy on Node worker-1 to be Ready"}},
		{"a new pod", with(well, agentPod("kube-proxy-b", -time.Second, true, false)), nil, nil},
		{"made in the second of the restart", with(well, agentPod("kube-proxy-b", 0, true, false)), nil, nil},
		{"no agents", host{name: "worker-1", found: true, ready: true, beat: agentsBegin.Add(time.Second)}, nil, nil},
	} {
		got := renew([]host{c.host}, agentsBegin)
		var going []string
		for _, p := range got.delete {
			going = append(going, p.Name)
		}
		if !slices.Equal(going, c.delete) || !slices.Equal(got.waits, c.waits) {
			t.Errorf("%s: deletes %q and waits for %q, want %q and %q", c.label, going, got.waits, c.delete, c.waits)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		most int
		want string
	}{{3, "a, b, c"}, {2, "a, b and 1 more"}} {
		if got := names([]string{"a", "b", "c"}, c.most); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
