package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/talos"
)

// facts are what the condition Ready is made of.
type facts struct {
	// err is why there is no member list; nil where there is one.
	err        error
	members    []guard.Member
	complaints map[uint64]string
	// without are the approved control planes that stay and have no member.
	without []string
	unknown []stranger
	// approved are the control planes that stay, count those that were asked for.
	approved, count int
}

// stranger is a member that no machine explains.
type stranger struct {
	guard.Member
	// rejoined is set if the ledger has it, and hindered says what stands in the way of
	// its removal.
	rejoined bool
	hindered string
}

// trouble is one thing that is not as spec asks.
type trouble struct{ reason, text string }

// verdict is the reason and the message of Ready, and whether it is True. The reason is
// the first of what is wrong; the message has all of it.
func verdict(f facts) (ready bool, reason, message string) {
	var all []trouble
	if f.err != nil {
		all = append(all, unseen(f.err)...)
	} else {
		all = append(all, quorumless(f)...)
		all = append(all, unhealthy(f)...)
		all = append(all, strangers(f)...)
	}
	all = append(all, miscounted(f)...)
	if len(all) == 0 {
		return true, v1alpha1.ReasonAsAsked, fmt.Sprintf("Control planes approved: %d. All members of their etcd are healthy voters.", f.approved)
	}
	var texts []string
	for _, t := range all {
		texts = append(texts, t.text)
	}
	return false, all[0].reason, strings.Join(texts, " ")
}

// unseen is why there is no member list. That nobody is approved is said by the count.
func unseen(err error) []trouble {
	text := conditions.OneLine(err)
	switch {
	case errors.Is(err, controlplane.ErrNoControlPlane):
		return nil
	case errors.Is(err, talos.ErrBundle):
		return []trouble{{v1alpha1.ReasonBundleUnusable, "No control plane can be asked: " + text + "."}}
	case errors.Is(err, controlplane.ErrOtherCluster):
		return []trouble{{v1alpha1.ReasonOtherCluster, "Another etcd cluster answers than the recorded one, and nothing is changed: " + text + ". Correct spec.endpoint of the TalosMachines, or the secrets bundle."}}
	}
	return []trouble{{v1alpha1.ReasonNoQuorum, "The etcd cluster gives no member list: " + text + "."}}
}

func quorumless(f facts) []trouble {
	if n := guard.CountOf(f.members); !n.Quorate() {
		return []trouble{{v1alpha1.ReasonNoQuorum, "The etcd cluster has no quorum: " + n.String() + "."}}
	}
	return nil
}

func unhealthy(f facts) []trouble {
	var ill []string
	for _, name := range f.without {
		ill = append(ill, "TalosMachine "+name+" has no etcd member")
	}
	for _, m := range f.members {
		switch {
		case !m.Started:
			ill = append(ill, m.Label()+" has not started")
		case !m.Healthy:
			ill = append(ill, m.Label()+" is ill: "+or(f.complaints[m.ID], "it does not answer"))
		case m.Learner:
			ill = append(ill, m.Label()+" is still a learner")
		}
	}
	if len(ill) == 0 {
		return nil
	}
	slices.Sort(ill)
	return []trouble{{v1alpha1.ReasonMemberUnhealthy, strings.Join(ill, "; ") + "."}}
}

func strangers(f facts) (out []trouble) {
	for _, s := range f.unknown {
		out = append(out, trouble{v1alpha1.ReasonUnknownMember, s.text()})
	}
	return out
}

func (s stranger) text() string {
	if !s.rejoined {
		return fmt.Sprintf("No approved TalosMachine explains etcd member %s: approve the one of its node, or reset the node.", where(s.Member))
	}
	text := fmt.Sprintf("Etcd member %s was removed before, has joined again, and is removed again", where(s.Member))
	if s.hindered != "" {
		text += " as soon as nothing stands in the way: " + s.hindered
	}
	return text + ". Reset its node or power it off, else it joins once more."
}

func miscounted(f facts) []trouble {
	const seen = "Control planes approved: %d, asked for by spec.controlPlane.count: %d. "
	var out string
	switch {
	case f.approved == f.count:
		return nil
	case f.approved < f.count:
		out = "Approve another TalosMachine, or lower the count (to 1, 3 or 5) if you mean to shrink the cluster."
	default:
		out = "Delete a TalosMachine that is not needed, or raise the count (to 1, 3 or 5) if you mean to grow the cluster."
	}
	return []trouble{{v1alpha1.ReasonCountDiffers, fmt.Sprintf(seen, f.approved, f.count) + out}}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
