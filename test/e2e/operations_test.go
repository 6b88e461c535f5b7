package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

// change is what somebody does to an Etcd of 3 members.
type change func(*v1alpha1.Etcd)

func resize(to int32) change { return func(e *v1alpha1.Etcd) { e.Spec.Replicas = &to } }

func member(name string) v1alpha1.BootstrapMember {
	return v1alpha1.BootstrapMember{Name: name, PeerURLs: []v1alpha1.URL{v1alpha1.URL("https://" + name + ".old.example.com:2380")}}
}

func list(names ...string) change {
	return func(e *v1alpha1.Etcd) {
		members := make([]v1alpha1.BootstrapMember, 0, len(names))
		for _, name := range names {
			members = append(members, member(name))
		}
		e.Spec.Etcd = &v1alpha1.EtcdConfig{BootstrapWithExistingCluster: &v1alpha1.BootstrapWithExistingCluster{
			Members: members, ClientEndpoints: []v1alpha1.URL{"https://s0.old.example.com:2379"},
		}}
	}
}

func elsewhere(e *v1alpha1.Etcd) {
	e.Spec.Etcd.BootstrapWithExistingCluster.ClientEndpoints = []v1alpha1.URL{"https://elsewhere.example.com:2379"}
}

func unset(e *v1alpha1.Etcd)       { e.Spec.Etcd.BootstrapWithExistingCluster = nil }
func unsetAround(e *v1alpha1.Etcd) { e.Spec.Etcd = nil }

func both(changes ...change) change {
	return func(e *v1alpha1.Etcd) {
		for _, c := range changes {
			c(e)
		}
	}
}

// The condition's four pairs of reason and status, and what each refuses.
//
var operations = []struct {
	name   string
	status script.State
	// joining says that an Etcd that shares has not joined its source yet.
	joining bool
	// alone is for an Etcd without sources; sharing for one whose list is s0 and
	// s1, with s0, s1 and s2 recorded as joined. What is not listed is allowed.
	alone, sharing map[string][]string
}{
	{
		"ScalingIn", script.Busy(v1alpha1.ScaleIn, 5, 3), false,
		map[string][]string{"out": {"scale-out-blocked"}},
		map[string][]string{
			"out": {"scale-out-blocked"}, "remove": {"bootstrap-removal-blocked"},
			"unset": {"bootstrap-unset-blocked"}, "unset around": {"bootstrap-unset-blocked"},
			"two at once": {"bootstrap-removal-blocked", "one-change-at-a-time", "scale-out-blocked"}, "sleep": {"shared-not-to-zero"},
		},
	},
	{
		"ScalingOut", script.Busy(v1alpha1.ScaleOut, 2, 3), false,
		map[string][]string{"in": {"scale-in-blocked"}},
		map[string][]string{
			"in": {"scale-in-blocked"}, "remove": {"bootstrap-removal-blocked"},
			"unset": {"bootstrap-unset-blocked"}, "unset around": {"bootstrap-unset-blocked"},
			"two at once": {"bootstrap-removal-blocked", "one-change-at-a-time"}, "sleep": {"shared-not-to-zero"},
		},
	},
	{
		"ScalingOut from 0", script.Busy(v1alpha1.ScaleOut, 0, 3), true,
		map[string][]string{"in": {"scale-in-blocked"}},
		joining(map[string][]string{"in": {"scale-in-blocked"}}),
	},
	{
		// The exit of a creation or a join that is stuck: any smaller size.
		"ScalingOut from 0, stalled", script.Busy(v1alpha1.ScaleOut, 0, 3).With(v1alpha1.ConditionStalled, metav1.ConditionTrue, "PodUnschedulable"), true,
		nil, joining(nil),
	},
	{
		"BootstrapMembersRemoval", script.Busy(v1alpha1.RemoveBootstrapMembers, 3, 3), false,
		map[string][]string{"out": {"scale-out-blocked"}, "in": {"scale-in-blocked"}},
		map[string][]string{
			"out": {"scale-out-blocked"}, "in": {"scale-in-blocked"}, "put back": {"bootstrap-readd-blocked"},
			"two at once": {"one-change-at-a-time", "scale-out-blocked"}, "sleep": {"shared-not-to-zero"},
		},
	},
	{
		"NoScaleOperation", script.Idle(3), false, nil,
		map[string][]string{"two at once": {"one-change-at-a-time"}, "sleep": {"shared-not-to-zero"}},
	},
}

// joining adds to the rest what every join refuses.
func joining(rest map[string][]string) map[string][]string {
	refused := map[string][]string{
		"remove": {"bootstrap-removal-blocked"}, "unset": {"bootstrap-unset-blocked"}, "unset around": {"bootstrap-unset-blocked"},
		"put back": {"bootstrap-frozen-until-joined"}, "elsewhere": {"bootstrap-frozen-until-joined"},
		"two at once": {"bootstrap-removal-blocked", "one-change-at-a-time"}, "sleep": {"shared-not-to-zero"},
	}
	maps.Copy(refused, rest)
	return refused
}

var aloneChanges = map[string]change{"out": resize(5), "in": resize(1), "sleep": resize(0)}

var sharingChanges = map[string]change{
	"out": resize(5), "in": resize(1), "sleep": resize(0),
	"remove": list("s1"), "reorder": list("s1", "s0"), "put back": list("s0", "s1", "s2"),
	"elsewhere": elsewhere, "unset": unset, "unset around": unsetAround, "two at once": both(resize(5), list("s0")),
}

func TestOperations(t *testing.T) {
	for _, operation := range operations {
		t.Run(operation.name, func(t *testing.T) {
			ns := namespace(t)
			alone := given(t, etcd(ns, "alone", 3), operation.status)
			inTheWay, _, _ := strings.Cut(operation.name, " ")
			judge(t, inTheWay, alone, aloneChanges, operation.alone)
			sharing := etcd(ns, "sharing", 3)
			list("s0", "s1")(sharing)
			given(t, sharing, operation.status.Bootstrapped(!operation.joining).Joined("s0", "s1", "s2"))
			judge(t, inTheWay, sharing, sharingChanges, operation.sharing)
		})
	}
}

// judge sends each change as a dry run; a refused one names the operation.
func judge(t *testing.T, operation string, e *v1alpha1.Etcd, changes map[string]change, refused map[string][]string) {
	t.Helper()
	for name, apply := range changes {
		t.Run(e.Name+" "+name, func(t *testing.T) {
			changed := e.DeepCopy()
			apply(changed)
			err := as(t, world.Alice).Update(t.Context(), changed, client.DryRunAll)
			refusedBy(t, err, refused[name], named(operation, refused[name])...)
		})
	}
	for rule := range refused {
		if changes[rule] == nil {
			t.Errorf("there is no change called %q", rule)
		}
	}
}

// named is what a refusal by the four rules about operations in progress says.
func named(operation string, rules []string) []string {
	unnamed := []string{"one-change-at-a-time", "shared-not-to-zero", "bootstrap-frozen-until-joined"}
	if slices.ContainsFunc(rules, func(id string) bool { return !slices.Contains(unnamed, id) }) {
		return []string{operation + " is in progress"}
	}
	return nil
}

// TestScaleSubresource holds the same on /scale, which autoscalers use: no
// kubectl, the object is an autoscaling/v1 Scale.
//
//
func TestScaleSubresource(t *testing.T) {
	ns := namespace(t)
	e := given(t, etcd(ns, "scaled", 3), script.Busy(v1alpha1.ScaleIn, 5, 3))
	for replicas, rules := range map[int32][]string{5: {"scale-out-blocked"}, 1: nil, 0: nil} {
		scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: e.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		alice := as(t, world.Alice).SubResource("scale")
		refusedBy(t, alice.Update(t.Context(), e.DeepCopy(), &client.SubResourceUpdateOptions{SubResourceBody: scale, UpdateOptions: client.UpdateOptions{DryRun: []string{metav1.DryRunAll}}}), rules)
	}
	asleep := given(t, etcd(ns, "asleep", 0), script.Idle(3))
	wake := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: asleep.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: 1}}
	err := as(t, world.Alice).SubResource("scale").Update(t.Context(), asleep, client.WithSubResourceBody(wake))
	refusedBy(t, err, []string{"wake-at-recorded-size"}, "went to sleep with 3 members")
}
