package doctor

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
)

func TestJudgeVersion(t *testing.T) {
	for _, tc := range []struct {
		version string
		state   State
		seen    string
	}{
		{"v1.34.0", OK, "Kubernetes v1.34.0 is supported"},
		{"v1.37.2-eks-123", OK, "Kubernetes v1.37.2-eks-123 is supported"},
		{"v1.33.9", Failed, "Kubernetes v1.33.9 is older than 1.34"},
		{"v1.38.0", Warning, "Kubernetes v1.38.0 is newer than 1.37, the last that this version was tested with"},
		{"v2.34.0", Warning, "Kubernetes v2.34.0 is newer than 1.37, the last that this version was tested with"},
		{"v0.0.0-master+$Format:%H$", Unknown, `the server calls itself "v0.0.0-master+$Format:%H$", which names no release`},
		{"", Unknown, `the server calls itself "", which names no release`},
	} {
		if got := JudgeVersion(tc.version, []int{34, 35, 36, 37}); got.State != tc.state || got.Seen != tc.seen {
			t.Errorf("%q: got %s %q, want %s %q", tc.version, got.State, got.Seen, tc.state, tc.seen)
		}
	}
}

func TestJudgeReplicas(t *testing.T) {
	for _, tc := range []struct {
		name, status, spec string
		state              State
		seen               string
	}{
		{"good", "readyReplicas: 2", "replicas: 2", OK, "2 of 2 replicas are ready"},
		{"none", "{}", "replicas: 2", Failed, "0 of 2 replicas are ready, so every gated change is refused"},
		{"one down", "readyReplicas: 1", "replicas: 2", Warning, "1 of 2 replicas are ready"},
		{"only one wanted", "readyReplicas: 1", "{}", Warning, "1 of 1 replicas are ready, and one replica is down whenever its node is drained"},
	} {
		d := decode[appsv1.Deployment](t, "metadata: {name: m, namespace: n}\nspec: {"+strings.Trim(tc.spec, "{}")+"}\nstatus: {"+strings.Trim(tc.status, "{}")+"}")
		if got := judgeReplicas(d); got.State != tc.state || got.Seen != tc.seen {
			t.Errorf("%s: got %s %q, want %s %q", tc.name, got.State, got.Seen, tc.state, tc.seen)
		}
	}
}

func TestJudgeBudgets(t *testing.T) {
	d := decode[appsv1.Deployment](t, deployment)
	for _, tc := range []struct {
		spec string
		want State
	}{
		{"{minAvailable: 1, selector: {matchLabels: {app: quorate}}}", OK},
		{"{maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: Exists}]}}", OK},
		{"{minAvailable: 1, selector: {matchLabels: {app: other}}}", Warning},
		{"{minAvailable: 1, selector: {}}", OK}, // all pods of the namespace
		{"{minAvailable: 1}", Warning},
		{"{selector: {matchLabels: {app: quorate}}}", Warning},
	} {
		b := decode[policyv1.PodDisruptionBudget](t, "metadata: {name: b}\nspec: "+tc.spec)
		if got := judgeBudgets(d, []policyv1.PodDisruptionBudget{*b}); got.State != tc.want {
			t.Errorf("%s: got %s, want %s", tc.spec, got.State, tc.want)
		}
	}
}

func TestEndpoints(t *testing.T) {
	slice := decode[discoveryv1.EndpointSlice](t, endpoints)
	if got, want := readyAddresses([]discoveryv1.EndpointSlice{*slice, *slice}), []string{"10.1.2.3:9443", "10.1.2.4:9443"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	d := door{namespace: "quorate-system", service: "quorate-webhook"}
	for _, tc := range []struct {
		addresses []string
		state     State
		seen      string
	}{
		{nil, Failed, "Service quorate-system/quorate-webhook has no ready endpoint, so every gated change is refused"},
		{[]string{"a"}, Warning, "Service quorate-system/quorate-webhook has one ready endpoint, and none when that pod goes"},
		{[]string{"a", "b"}, OK, "Service quorate-system/quorate-webhook has 2 ready endpoints"},
	} {
		if got := judgeEndpoints(d, tc.addresses); got.State != tc.state || got.Seen != tc.seen {
			t.Errorf("got %+v, want %s %q", got, tc.state, tc.seen)
		}
	}
}
