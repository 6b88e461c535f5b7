package recovercluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// Recovery is one run of the command.
type Recovery struct {
	Store store.Store
	// At is where the store is; nil for one that no TalosEtcdBackup can name.
	At          *restoring.StoreSettings
	Key         *snapshot.Key
	Authorities restoring.Authorities
	Nodes       restore.Nodes
	Etcd        restore.Etcd
	// Folder holds the snapshot in plain while this runs; the caller erases it.
	Folder *restore.Folder
	Worker snapshot.Worker
	// Snapshot and Endpoints are what a person gave. With a marker neither is needed.
	Snapshot  string
	Endpoints []string
	// Without are machines that it is done without from here on.
	Without []string
	// WithoutUndo: no snapshot is taken of an etcd that lives.
	WithoutUndo bool
	// Snapshots streams a snapshot of the etcd of the node at an address.
	Snapshots func(ctx context.Context, address string) (io.ReadCloser, error)
	// ClusterID is the Talos cluster's, of the bundle.
	ClusterID string
	// Requester is who runs this, Quorate the version.
	Requester, Quorate string
	Limits             restore.Limits
	Report             func(restore.Progress)
	Now                func() time.Time
}

var (
	// ErrIncomplete: the store has no marker, and the snapshot or the nodes were not given.
	ErrIncomplete = errors.New("there is no restore to go on with")
	// ErrOther: the store has the marker of another restore.
	ErrOther = errors.New("another restore is on its way")
	// ErrBlocked: the snapshot cannot be restored on this cluster.
	ErrBlocked = errors.New("the restore cannot begin")
)

// Plan is what a run would do.
type Plan struct {
	Cluster  string `json:"cluster"`
	Snapshot string `json:"snapshot"`
	// SnapshotTime is when it was taken.
	SnapshotTime time.Time `json:"snapshot_time"`
	// GoesOn: there is a marker, at Step, of which Owner may act until Until.
	GoesOn bool      `json:"goes_on"`
	Step   string    `json:"step,omitempty"`
	Owner  string    `json:"owner,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	// Failure is why it stopped, empty if it did not say.
	Failure string   `json:"failure,omitempty"`
	Steps   []string `json:"steps"`
	// LeftOut says of each machine that is left out what a person has to do with it.
	LeftOut []string `json:"left_out,omitempty"`
	// Alive is the etcd that would be thrown away, if one answers.
	Alive *Alive `json:"alive,omitempty"`
	// Warnings are what may keep it from its end.
	Warnings []string `json:"warnings,omitempty"`
	// Afterwards is what a person has to do once the API answers, known from Run on.
	Afterwards string `json:"afterwards,omitempty"`

	meta snapshot.Meta
	// nodes are those to wipe, left those to leave out; alive is what etcd said.
	nodes, left []restore.Node
	alive       *restore.Probe
}

// Alive is an etcd that has a quorum.
type Alive struct {
	Members []string `json:"members"`
	// Revision is where it is, 0 if it cannot be reached from here; Lost is how many
	// revisions it has had since the snapshot.
	Revision int64 `json:"revision"`
	Lost     int64 `json:"lost"`
}

// Prepare reads the store and says what Run would do. It changes nothing.
func (r *Recovery) Prepare(ctx context.Context) (*Plan, error) {
	m, _, err := restore.Markers{Store: r.Store}.Load(ctx)
	switch {
	case errors.Is(err, restore.ErrNoMarker):
		return r.planNew(ctx)
	case err != nil:
		return nil, err
	case r.Snapshot != "" && r.Snapshot != m.Snapshot.Name:
		return nil, other(m)
	}
	p, err := planOn(m, r.Without, r.Now())
	if err == nil {
		p.Warnings = r.port(ctx, m.Target, m.Node(m.Target).Address)
	}
	return p, err
}

// other names the restore that is on its way.
func other(m *restore.Marker) error {
	return fmt.Errorf("%w: %s, at %s. Leave --snapshot out to go on with that one", ErrOther, m.Snapshot.Name, m.Step)
}

// planOn has m do without what is to be left out, as the job will.
func planOn(m *restore.Marker, without []string, now time.Time) (*Plan, error) {
	p := &Plan{Cluster: m.Cluster, Snapshot: m.Snapshot.Name, SnapshotTime: m.Snapshot.Time.UTC(), GoesOn: true, Step: string(m.Step),
		Owner: m.Owner.Identity, Until: m.Owner.Expires.UTC(), Failure: m.Failure}
	before := m.LeftOut
	if err := m.LeaveOut(without, now); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	p.Steps = []string{fmt.Sprintf("Take the restore over from %s, which may not act any more from then on", m.Owner.Identity)}
	if left := m.LeftOut[len(before):]; len(left) > 0 {
		p.Steps = append(p.Steps, fmt.Sprintf("Do without %s from here on: nothing is asked of it any more", named(left)))
	}
	p.Steps = append(p.Steps,
		fmt.Sprintf("Go on at %s, on %s; etcd is recovered on %s", m.Step, named(m.Nodes), m.Target),
		"Leave the marker in the store: the controller finishes what needs Kubernetes",
	)
	p.LeftOut = m.LeftOutText()
	return p, nil
}

func named(nodes []restore.Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Machine+" ("+n.Address+")")
	}
	return strings.Join(out, ", ")
}

func (r *Recovery) meta(ctx context.Context, name string) (snapshot.Meta, error) {
	data, _, err := store.ReadSmall(ctx, r.Store, snapshot.MetaName(name))
	if errors.Is(err, store.ErrNotFound) {
		return snapshot.Meta{}, fmt.Errorf("%w: the store has no whole snapshot %s", ErrBlocked, name)
	}
	if err != nil {
		return snapshot.Meta{}, err
	}
	return snapshot.DecodeMeta(data)
}

func (r *Recovery) blocked(m snapshot.Meta) error {
	then := restoring.Authorities{Etcd: m.Authorities.Etcd, Kubernetes: m.Authorities.K8s, OS: m.Authorities.OS}
	blocks := restoring.Blocked(restoring.Prospect{
		Cluster: m.Cluster, BackupOf: m.Cluster, Snapshot: m.Name, Listed: true, ControlPlanes: r.Endpoints,
		Now: r.Authorities, Then: then, KeyNow: r.Key.Fingerprint(), KeyThen: m.KeyFingerprint, Quorate: r.Quorate, TakenBy: m.Quorate,
	})
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Message)
	}
	if len(texts) > 0 {
		return fmt.Errorf("%w: %s", ErrBlocked, strings.Join(texts, " "))
	}
	return nil
}

// Run does what the plan says. The error is of what went wrong before anything was
// changed, or the context's.
func (r *Recovery) Run(ctx context.Context, p *Plan) (restore.Result, error) {
	identity, err := r.Folder.Identity()
	if err != nil {
		return restore.Result{}, err
	}
	if !p.GoesOn {
		if err := r.begin(ctx, p, identity); err != nil {
			return restore.Result{}, fmt.Errorf("%w; nothing was changed on the nodes", err)
		}
	}
	job := &restore.Job{
		Nodes: r.Nodes, Etcd: r.Etcd, Store: r.Store, Desk: r.Folder, Identity: identity, Ordered: p.GoesOn, Without: r.Without, Log: logr.Discard(), Limits: r.Limits, Report: r.Report,
		Decrypt: func(from io.Reader) (io.Reader, error) { return snapshot.Open(from, r.Key) },
	}
	return job.Run(ctx)
}
