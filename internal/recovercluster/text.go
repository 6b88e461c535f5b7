package recovercluster

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteText prints the plan for a person.
func (p *Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Recovery of etcd of cluster %s from snapshot %s, taken %s\n", p.Cluster, p.Snapshot, p.SnapshotTime.Format(time.RFC3339))
	if p.GoesOn {
		fmt.Fprintf(&b, "A restore is on its way, at %s; %s may act until %s. Be sure that it does not: only one may.\n", p.Step, p.Owner, p.Until.Format(time.RFC3339))
	}
	if a := p.Alive; a != nil {
		fmt.Fprintf(&b, "Its etcd LIVES: a quorum of its members %s answers, %s. If its API answers too, quorate restore --live is the way.\n", strings.Join(a.Members, ", "), a.lost())
	}
	if p.Failure != "" {
		fmt.Fprintf(&b, "It stopped: %s\n", p.Failure)
	}
	b.WriteString("\nWhat happens\n")
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, s)
	}
	list(&b, "Left out", p.LeftOut)
	list(&b, "Mind", p.Warnings)
	b.WriteString("\nEverything that was written after the snapshot is lost.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func list(b *strings.Builder, head string, texts []string) {
	if len(texts) > 0 {
		fmt.Fprintf(b, "\n%s\n", head)
	}
	for _, text := range texts {
		fmt.Fprintf(b, "  - %s\n", text)
	}
}

func (a *Alive) lost() string {
	if a.Revision == 0 {
		return "at a revision that cannot be asked from here. That is thrown away, with all that it has had since the snapshot"
	}
	return fmt.Sprintf("at revision %d. That is thrown away, with all that its %d revisions since the snapshot brought", a.Revision, a.Lost)
}
