package restoreplan

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// steps are those of the restore, in plain words.
func (f *facts) steps() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	planes, own, target := f.controlPlanes(), f.ownPlane(), f.target()
	if f.request.WithoutUndo {
		say("Take no snapshot of etcd as it is now: this restore cannot be undone")
	} else {
		say("Take a snapshot of etcd as it is now, by which this restore can be undone")
	}
	say("Check snapshot %s of backup %s, and keep a sealed copy of it beside the backups", f.snapshot.Name, f.backup.Name)
	if len(planes) == 0 {
		return out
	}
	if own != "" {
		say("Let %s (where this controller runs) leave etcd", own)
	}
	say("Wipe etcd data on %s", wiped(planes, own))
	say("Recover etcd on %s from the snapshot; the Kubernetes API is away from the wipe until then", target)
	if others := slices.DeleteFunc(slices.Clone(planes), func(p string) bool { return p == target }); len(others) > 0 {
		say("Wait until %s %s", join(others), plural(len(others), "has rejoined etcd", "have rejoined etcd"))
	}
	if workers := f.workers(); len(workers) > 0 {
		say("Restart the kubelet of %s, and replace the pods of kube-proxy and of the network there", join(workers))
	}
	say("Have every machine reconcile against the restored state, and wait until each is Ready: %s", join(f.approved()))
	say("Delete the sealed copy")
	return out
}

// wiped names who is wiped, the controller's own node last: its reboot ends the
// controller.
func wiped(planes []string, own string) string {
	if own == "" {
		return strings.Join(planes, ", ")
	}
	others := slices.DeleteFunc(slices.Clone(planes), func(p string) bool { return p == own })
	if len(others) == 0 {
		return own + " (where this controller runs)"
	}
	return fmt.Sprintf("%s, then %s (where this controller runs) once the others have rejoined", strings.Join(others, ", "), own)
}

func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// span is a time in the two largest of its units.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	days, hours, minutes, seconds := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case days > 0:
		return fmt.Sprintf("%dd%dh", days, hours)
	case hours > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%dm%ds", minutes, seconds)
	}
	return fmt.Sprintf("%ds", seconds)
}
