package restoreplan

import (
	"fmt"
	"time"

	"github.com/quorate/quorate/guard/restoring"
)

// bump is by how much a restore raises etcd's revision at least: a difference as large
// as that counts no changes.
const bump = 1_000_000_000

// warnings are what whoever agrees has to know.
func (f *facts) warnings(p *Plan) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("Everything that was written after %s is lost%s, Quorate's own objects and Secrets among it.", p.Lost.Since.Format(time.RFC3339), f.extent(p.Lost))
	say("The Kubernetes API is unavailable from the wipe until etcd is recovered, some minutes at least. Pods of workers go on; nothing is scheduled meanwhile.")
	say("Machines reconcile against the restored state: what was changed in their objects since is undone. Check each of them afterwards.")
	say("Every control plane reboots, and what its ephemeral partition holds is erased: images, logs, and the volumes of pods there.")
	for _, name := range p.Nodes.Removed {
		say("%s was a member of etcd at the snapshot and is no control plane now: its TalosMachine comes back, and its member does not. Delete that TalosMachine once the restore is done.", name)
	}
	for _, name := range p.Nodes.Added {
		say("%s has become a control plane since the snapshot: it joins the restored etcd, and is a stranger to Quorate until its TalosMachine is created and approved again.", name)
	}
	for _, alarm := range p.Alarms {
		say("etcd has an alarm now: %s. If the snapshot has it too, it is back after the restore.", alarm)
	}
	out = append(out, restoring.Doubts(f.prospect())...)
	if f.own != nil && f.ownPlane() == "" {
		say("This controller runs on %s, which is not wiped.", f.own.Name)
	}
	if f.request.WithoutUndo {
		say("No snapshot is taken of what is thrown away: there is no way back.")
	}
	if f.request.AllowUnconditionalStore {
		say("A store that ignores conditional writes is let pass: nothing but you keeps a second restore of this cluster from running at the same time.")
	}
	return out
}

// extent is how much is lost.
func (f *facts) extent(l Lost) string {
	since := span(time.Duration(l.Seconds) * time.Second)
	switch {
	case l.Revisions >= bump:
		return fmt.Sprintf(" (%s; a restore in between keeps the changes from being counted)", since)
	case l.Revisions > 0:
		return fmt.Sprintf(" (%s, %d %s of etcd)", since, l.Revisions, plural(int(l.Revisions), "revision", "revisions"))
	}
	return " (" + since + ")"
}
