package cluster

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/talos"
)

var (
	errBundle = fmt.Errorf("Secret default/quay-talos: %w: it is empty", talos.ErrBundle)
	errOther  = fmt.Errorf("list the members of etcd at [https://192.0.2.1:2379]: %w: b, and not a", controlplane.ErrOtherCluster)
	errList   = errors.New("list the members of etcd at\n[https://192.0.2.1:2379]: context deadline exceeded")
)

func voter(n int) guard.Member {
	return guard.Member{
		ID: uint64(n), Name: fmt.Sprintf("cp-%d", n), PeerURLs: []string{fmt.Sprintf("https://192.0.2.%d:2380", n)}, //nolint:gosec // small
		Started: true, Healthy: true,
	}
}

func but(m guard.Member, change func(*guard.Member)) guard.Member {
	change(&m)
	return m
}

func voters(n int) (out []guard.Member) {
	for i := range n {
		out = append(out, voter(i+1))
	}
	return out
}

func ill(m *guard.Member)       { m.Healthy = false }
func learner(m *guard.Member)   { m.Learner = true }
func unstarted(m *guard.Member) { m.Name, m.Started, m.Healthy = "", false, false }

func TestVerdict(t *testing.T) {
	three := voters(3)
	const fewer = " Approve another TalosMachine, or lower the count (to 1, 3 or 5) if you mean to shrink the cluster."
	cases := []struct {
		name         string
		facts        facts
		reason, text string
	}{
		{"as asked", facts{members: three, approved: 3, count: 3},
			"AsAsked", "Control planes approved: 3. All members of their etcd are healthy voters."},
		{"no bundle", facts{err: errBundle, approved: 3, count: 3},
			"SecretsBundleUnusable", "No control plane can be asked: Secret default/quay-talos: the secrets bundle cannot be used: it is empty."},
		{"another cluster", facts{err: errOther, approved: 3, count: 3},
			"OtherCluster", "Another etcd cluster answers than the recorded one, and nothing is changed: list the members of etcd at [https://192.0.2.1:2379]: another cluster answers: b, and not a. Correct spec.endpoint of the TalosMachines, or the secrets bundle."},
		{"no list", facts{err: errList, approved: 3, count: 3},
			"NoQuorum", "The etcd cluster gives no member list: list the members of etcd at [https://192.0.2.1:2379]: context deadline exceeded."},
		{"nobody is approved", facts{err: controlplane.ErrNoControlPlane, count: 3},
			"ControlPlaneCountDiffers", "Control planes approved: 0, asked for by spec.controlPlane.count: 3." + fewer},
		{"no quorum in the list", facts{members: []guard.Member{three[0], but(three[1], ill), but(three[2], ill)}, complaints: map[uint64]string{2: "connection refused"}, approved: 3, count: 3},
			"NoQuorum", "The etcd cluster has no quorum: 1 of 3 voters healthy, quorum 2. cp-2 is ill: connection refused; cp-3 is ill: it does not answer."},
		{"one is ill, one has not started, one learns", facts{members: append(voters(3), but(voter(4), unstarted), but(voter(5), learner), but(voter(6), ill)), approved: 5, count: 5},
			"MemberUnhealthy", "cp-5 is still a learner; cp-6 is ill: it does not answer; https://192.0.2.4:2380 has not started."},
		{"one has no member", facts{members: three[:2], without: []string{"cp-3"}, approved: 3, count: 3},
			"MemberUnhealthy", "TalosMachine cp-3 has no etcd member."},
		{"a stranger", facts{members: voters(4), unknown: []stranger{{Member: voter(4)}}, approved: 3, count: 3},
			"UnknownEtcdMember", "No approved TalosMachine explains etcd member cp-4 at https://192.0.2.4:2380: approve the one of its node, or reset the node."},
		{"rejoined", facts{members: voters(4), unknown: []stranger{{Member: voter(4), rejoined: true}}, approved: 3, count: 3},
			"UnknownEtcdMember", "Etcd member cp-4 at https://192.0.2.4:2380 was removed before, has joined again, and is removed again. Reset its node or power it off, else it joins once more."},
		{"rejoined and withheld, and a stranger that is ill", facts{
			members: append(voters(4), but(voter(5), ill)), approved: 3, count: 3,
			unknown: []stranger{{Member: voter(4), rejoined: true, hindered: "the lock is held"}, {Member: but(voter(5), unstarted)}}},
			"MemberUnhealthy", "cp-5 is ill: it does not answer. Etcd member cp-4 at https://192.0.2.4:2380 was removed before, has joined again, and is removed again as soon as nothing stands in the way: the lock is held. Reset its node or power it off, else it joins once more. No approved TalosMachine explains etcd member https://192.0.2.5:2380: approve the one of its node, or reset the node."},
		{"too few", facts{members: voters(2), approved: 2, count: 3},
			"ControlPlaneCountDiffers", "Control planes approved: 2, asked for by spec.controlPlane.count: 3." + fewer},
		{"too many", facts{members: voters(4), approved: 4, count: 3},
			"ControlPlaneCountDiffers", "Control planes approved: 4, asked for by spec.controlPlane.count: 3. Delete a TalosMachine that is not needed, or raise the count (to 1, 3 or 5) if you mean to grow the cluster."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ready, reason, text := verdict(c.facts)
			if ready != (c.reason == "AsAsked") || reason != c.reason || text != c.text {
				t.Errorf("got  %t %s: %s\nwant %s: %s", ready, reason, text, c.reason, c.text)
			}
		})
	}
}

func TestQuorum(t *testing.T) {
	three := voters(3)
	cases := []struct {
		name         string
		seen         bool
		members      []guard.Member
		err          error
		is           metav1.ConditionStatus
		reason, text string
	}{
		{"all", true, three, nil, "True", "Quorate", "3 of 3 voters healthy, quorum 2."},
		{"enough", true, []guard.Member{three[0], three[1], but(three[2], ill)}, nil, "True", "Quorate", "2 of 3 voters healthy, quorum 2."},
		{"too few", true, []guard.Member{three[0], but(three[1], ill), but(three[2], ill)}, nil, "False", "NoQuorum", "1 of 3 voters healthy, quorum 2."},
		{"no list", false, nil, errList, "False", "NoQuorum", "list the members of etcd at [https://192.0.2.1:2379]: context deadline exceeded."},
		{"no bundle", false, nil, errBundle, "Unknown", "SecretsBundleUnusable", "Secret default/quay-talos: the secrets bundle cannot be used: it is empty."},
		{"another cluster", false, nil, errOther, "Unknown", "OtherCluster", "list the members of etcd at [https://192.0.2.1:2379]: another cluster answers: b, and not a."},
		{"nobody to ask", false, nil, controlplane.ErrNoControlPlane, "Unknown", "ControlPlaneCountDiffers", "no TalosMachine is an approved control plane."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if is, reason, text := quorum(c.seen, c.members, c.err); is != c.is || reason != c.reason || text != c.text {
				t.Errorf("got  %s %s: %s\nwant %s %s: %s", is, reason, text, c.is, c.reason, c.text)
			}
		})
	}
}
