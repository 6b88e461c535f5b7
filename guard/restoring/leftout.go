package restoring

import (
	"fmt"
	"strings"
)

// LeftOutText says of each machine that was left out what it is now, and what a person has
// to do. through is the address of a control plane that stays.
func LeftOutText(left []Node, through string) (out []string) {
	for _, n := range left {
		text := fmt.Sprintf("%s (%s) is left out: it must be off, and stay off until it is wiped. What its disk has of etcd is of another lineage, and with it the machine would serve what is no more, or vote for it. "+
			"To have it back, start it cut off from the others and wipe it: %s; or install it anew. Then it joins by itself.", n.Machine, n.Address, n.wipeCommand())
		if n.BootID == "" {
			text += " It was not asked for its volumes: name ETCD too, if it has one of that name."
		}
		if n.MemberID != 0 {
			text += fmt.Sprintf(" It is a member of the recovered etcd still: remove it, by deleting its TalosMachine once the API answers, or now: talosctl -n %s etcd remove-member %016x.", through, n.MemberID)
		}
		out = append(out, text)
	}
	return out
}

// offForGood is the way out where control planes do not answer.
func (t *turn) offForGood() string {
	var mute []string
	for _, n := range t.targetFirst() {
		if t.seen.Nodes[n.Machine].Mute != "" {
			mute = append(mute, "--without "+n.Machine)
		}
	}
	if len(mute) == 0 {
		return ""
	}
	return fmt.Sprintf(" What is off for good, and stays off, is left out with %s, given to the command.", strings.Join(mute, " "))
}

func (n Node) wipeCommand() string {
	labels := append([]string{"EPHEMERAL"}, n.Volumes...)
	return fmt.Sprintf("talosctl -n %s reset --graceful=false --reboot --system-labels-to-wipe %s", n.Host(), strings.Join(labels, ","))
}
