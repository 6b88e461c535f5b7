package restoreplan

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxLines is how many groups of a difference are printed.
const maxLines = 20

// WriteText prints the plan for a person.
func (p *Plan) WriteText(w io.Writer) error {
	t := text{bufio.NewWriter(w)}
	t.line("Restore of etcd of cluster %s/%s from backup %s", p.Namespace, p.Cluster, p.Backup)
	t.line("Snapshot %s, taken %s%s", p.Snapshot, p.SnapshotTime.Format(time.RFC3339), revision(p.SnapshotRevision))
	t.numbered("What happens", p.Steps)
	t.listed("What to know", p.Warnings)
	t.differences(p.Objects)
	t.listed("What is not known", p.Unknown)
	if len(p.Blocked) > 0 {
		t.line("\nWhat stands in the way")
		for _, b := range p.Blocked {
			t.line("  - %s (%s)", b.Message, b.Reason)
		}
	}
	t.line("\nIf it stops after the wipe has begun, this goes on, from any machine that reaches the nodes:\n  %s", p.RecoverCommand)
	return t.Flush()
}

func revision(r int64) string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf(", at revision %d", r)
}

// text writes to a buffer, whose error Flush gives.
type text struct{ *bufio.Writer }

func (t text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func (t text) numbered(heading string, items []string) {
	t.line("\n%s", heading)
	for i, item := range items {
		t.line("  %d. %s", i+1, item)
	}
}

func (t text) listed(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	t.line("\n%s", heading)
	for _, item := range items {
		t.line("  - %s", item)
	}
}

func (t text) differences(d *Differences) {
	if d == nil {
		return
	}
	t.tally("Exist now and not in the snapshot: they are lost", d.Vanish)
	t.tally("Exist in the snapshot and not now: they come back", d.Return)
}

func (t text) tally(heading string, y Tally) {
	t.line("\n%s: %d %s", heading, y.Objects, plural(y.Objects, "object", "objects"))
	shown := y.Groups[:min(len(y.Groups), maxLines)]
	rest := y.Objects
	for _, g := range shown {
		rest -= g.Objects
		t.line("  %s", g)
	}
	if more := len(y.Groups) - len(shown) + y.MoreGroups; more > 0 {
		t.line("  and %d %s in %d more %s", rest, plural(rest, "object", "objects"), more, plural(more, "group", "groups"))
	}
}

// String is the group in one line, its names cut with a count.
func (g Group) String() string {
	where := ""
	if g.Namespace != "" {
		where = " in " + g.Namespace
	}
	names := strings.Join(g.Names, ", ")
	if more := g.Objects - len(g.Names); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d %s%s: %s", g.Objects, g.Kind, where, names)
}
