package recovercluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
)

// planNew looks at the nodes as they are before anything is begun.
func (r *Recovery) planNew(ctx context.Context) (*Plan, error) {
	if r.Snapshot == "" || len(r.Endpoints) == 0 {
		return nil, fmt.Errorf("%w: the store has no marker. Name a snapshot with --snapshot, and the machine API of each control plane with --node-endpoint", ErrIncomplete)
	}
	meta, err := r.meta(ctx, r.Snapshot)
	if err != nil {
		return nil, err
	}
	if err := r.blocked(meta); err != nil {
		return nil, err
	}
	seen := r.look(ctx)
	p := &Plan{Cluster: meta.Cluster, Snapshot: meta.Name, SnapshotTime: meta.Time.UTC(), meta: meta, nodes: seen.nodes, alive: seen.alive}
	if err := p.leaveOut(r.Without, seen); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	if err := p.compare(); err != nil {
		return nil, err
	}
	target := p.nodes[0]
	p.LeftOut = restoring.LeftOutText(p.left, target.Address)
	p.Warnings = slices.Concat(p.Warnings, seen.warnings(p.nodes), r.shut(ctx, target.Machine, target.Address, seen.silent[target.Address]))
	p.say(r.WithoutUndo)
	return p, nil
}

// leaveOut takes out what is not to be wiped: an endpoint, or a member that none stands
// for, of etcd as it is or else as it was at the snapshot.
func (p *Plan) leaveOut(names []string, seen sight) error {
	for _, name := range names {
		if i := restoring.Named(p.nodes, name); len(i) == 1 {
			p.left, p.nodes = append(p.left, p.nodes[i[0]]), slices.Delete(slices.Clone(p.nodes), i[0], i[0]+1)
			continue
		}
		known := nodesOf(members(seen.alive, p.meta))
		i := restoring.Named(known, name)
		if len(i) != 1 {
			return fmt.Errorf("%w: nobody knows a machine %s. The endpoints are %s; the members are %s", restoring.ErrLeaveOut, name, named(p.nodes), named(known))
		}
		p.left = append(p.left, known[i[0]])
	}
	if len(p.nodes) == 0 {
		return fmt.Errorf("%w: no endpoint is left, and etcd has to be recovered on one", restoring.ErrLeaveOut)
	}
	return nil
}

// compare refuses to begin where etcd has a member that no endpoint stands for: it would
// go on with the old data. Of an etcd that does not answer, the snapshot says who was in.
func (p *Plan) compare() error {
	if p.alive == nil {
		for _, n := range nodesOf(restoring.Unclaimed(slices.Concat(p.nodes, p.left), members(nil, p.meta))) {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s was a member of etcd at the snapshot, and no --node-endpoint stands for it. If it is a control plane still, name it, or leave it out.", named([]restore.Node{n})))
		}
		return nil
	}
	var texts []string
	for _, n := range nodesOf(restoring.Unclaimed(slices.Concat(p.nodes, p.left), p.alive.Members)) {
		texts = append(texts, fmt.Sprintf("%s is a member of etcd, and no --node-endpoint stands for it: with its data the old etcd would go on. Name its machine API, or leave it out with --without %s.", named([]restore.Node{n}), n.Machine))
	}
	if len(texts) > 0 {
		return fmt.Errorf("%w: %s", ErrBlocked, strings.Join(texts, " "))
	}
	return nil
}

// members are those of etcd as it is, or at the snapshot if it does not answer.
func members(alive *restore.Probe, meta snapshot.Meta) (out []guard.Member) {
	if alive != nil {
		return alive.Members
	}
	for _, m := range meta.Members {
		out = append(out, guard.Member{Name: m.Name, PeerURLs: m.PeerURLs, Learner: m.Learner})
	}
	return out
}

// say puts it into words.
func (p *Plan) say(withoutUndo bool) {
	p.Steps = []string{fmt.Sprintf("Check snapshot %s, and keep a sealed copy of it beside the backups", p.meta.Name)}
	if p.alive != nil {
		p.Alive = &Alive{Revision: p.alive.Revision, Lost: max(0, p.alive.Revision-p.meta.Revision)}
		for _, m := range p.alive.Members {
			p.Alive.Members = append(p.Alive.Members, m.Name)
		}
		if !withoutUndo {
			p.Steps = append([]string{"Take a snapshot of etcd as it is, which leads back"}, p.Steps...)
		}
	}
	var addresses []string
	for _, n := range p.nodes {
		addresses = append(addresses, n.Address)
	}
	p.Steps = append(p.Steps,
		"Wipe etcd data on "+strings.Join(addresses, ", ")+", all at once; each reboots",
		fmt.Sprintf("Recover etcd on %s from the snapshot", addresses[0]),
		"Wait until the others have rejoined etcd",
		"Leave the marker in the store: the controller finishes what needs Kubernetes",
	)
}
