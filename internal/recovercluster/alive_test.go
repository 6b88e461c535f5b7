package recovercluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// alive is the world with an etcd of three that answers at a revision.
func alive(t *testing.T, revision int64) (*Recovery, *nodes) {
	r, n := world(t)
	n.old = revision
	for a := range n.data {
		n.up[a] = true
	}
	r.ClusterID = "the cluster's ID"
	r.Snapshots = func(_ context.Context, address string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(database(t))), nodeAt{n, address}.do("snapshot", func() {})
	}
	return r, n
}

// An etcd that lives is told of, and a snapshot of it leads back, before anything is wiped.
//
// covers: C-38, C-41
func TestAlive(t *testing.T) {
	r, n := alive(t, 50)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	plan, err := r.Prepare(ctx)
	must(t, err)
	var text strings.Builder
	must(t, plan.WriteText(&text))
	for _, want := range []string{
		"Its etcd LIVES: a quorum of its members node-192.0.2.11, node-192.0.2.12, node-192.0.2.13 answers, at revision 50. That is thrown away, with all that its 39 revisions since the snapshot brought. If its API answers too, quorate restore --live is the way.\n",
		"  1. Take a snapshot of etcd as it is, which leads back\n  2. Check snapshot",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the plan does not say %q:\n%s", want, text.String())
		}
	}
	result, err := r.Run(ctx, plan)
	if err != nil || result.Outcome != restore.Done {
		t.Fatalf("%v, %+v", err, result)
	}
	m := result.Marker
	data, _, err := store.ReadSmall(ctx, r.Store, snapshot.MetaName(m.Pinned.Undo))
	must(t, err)
	meta, err := snapshot.DecodeMeta(data)
	if err != nil || meta.UndoOf != restore.CommandName(m.Epoch) || meta.Cluster != "prod" || meta.Namespace != "default" || meta.TalosClusterID != "the cluster's ID" ||
		meta.EtcdClusterID != "9" || meta.Verified == nil || meta.Revision != 11 || meta.KeyFingerprint != r.Key.Fingerprint() {
		t.Errorf("what leads back is %+v, %v", meta, err)
	}
	if !slices.Contains(n.asked, "snapshot 192.0.2.11") || slices.Index(n.asked, "snapshot 192.0.2.11") > slices.IndexFunc(n.asked, func(a string) bool { return strings.HasPrefix(a, "reset") }) {
		t.Errorf("the snapshot was not taken before the wipe: %v", n.asked)
	}
}

// Without a way back nothing is begun, unless a person does without.
//
// covers: C-41
func TestNoUndo(t *testing.T) {
	r, n := alive(t, 50)
	r.Snapshots = func(context.Context, string) (io.ReadCloser, error) { return nil, errors.New("it gives none") }
	plan, err := r.Prepare(t.Context())
	must(t, err)
	_, err = r.Run(t.Context(), plan)
	const want = "take a snapshot that leads back (give --without-undo to do without): node-192.0.2.11: it gives none\nnode-192.0.2.12: it gives none\nnode-192.0.2.13: it gives none; nothing was changed on the nodes"
	if err == nil || err.Error() != want || len(n.asked) != 0 {
		t.Errorf("got %v, asked %v; want %s", err, n.asked, want)
	}
	if _, _, err := (restore.Markers{Store: r.Store}).Load(t.Context()); !errors.Is(err, restore.ErrNoMarker) {
		t.Errorf("there is a marker: %v", err)
	}
	r.WithoutUndo = true
	plan, err = r.Prepare(t.Context())
	if err != nil || strings.Contains(plan.Steps[0], "leads back") {
		t.Errorf("got %v, %+v", err, plan)
	}
	if name, err := r.undo(t.Context(), plan, "x"); err != nil || name != "" {
		t.Errorf("got %q, %v", name, err)
	}
}

// No member of an etcd that lives is forgotten; one that does not answer may be left out by
// its name or its address.
//
// covers: C-41
func TestForgottenMember(t *testing.T) {
	r, _ := alive(t, 50)
	r.Endpoints = r.Endpoints[:2]
	const want = "the restore cannot begin: node-192.0.2.13 (192.0.2.13) is a member of etcd, and no --node-endpoint stands for it: with its data the old etcd would go on. Name its machine API, or leave it out with --without node-192.0.2.13."
	if _, err := r.Prepare(t.Context()); !errors.Is(err, ErrBlocked) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	for _, name := range []string{"node-192.0.2.13", "192.0.2.13"} {
		r.Without = []string{name}
		plan, err := r.Prepare(t.Context())
		if err != nil || len(plan.nodes) != 2 || len(plan.left) != 1 || plan.left[0].Address != "192.0.2.13" || len(plan.LeftOut) != 1 {
			t.Errorf("%s: %v, %+v", name, err, plan)
		}
	}
	r.Without = []string{"192.0.2.11", "192.0.2.13"} // an endpoint too, and the first
	plan, err := r.Prepare(t.Context())
	if err != nil || len(plan.nodes) != 1 || !slices.Contains(plan.Steps, "Recover etcd on 192.0.2.12 from the snapshot") {
		t.Errorf("%v, %+v", err, plan)
	}
	for name, want := range map[string]string{
		"cp-x":       "the restore cannot begin: it cannot be done without: nobody knows a machine cp-x. The endpoints are node-192.0.2.11 (192.0.2.11), node-192.0.2.12 (192.0.2.12); the members are node-192.0.2.11 (192.0.2.11), node-192.0.2.12 (192.0.2.12), node-192.0.2.13 (192.0.2.13)",
		"192.0.2.12": "the restore cannot begin: it cannot be done without: no endpoint is left, and etcd has to be recovered on one",
	} {
		r.Without = []string{name}
		if name == "192.0.2.12" {
			r.Without = append(r.Without, "192.0.2.11")
		}
		if _, err := r.Prepare(t.Context()); err == nil || err.Error() != want {
			t.Errorf("without %s: got  %v\nwant %s", name, err, want)
		}
	}
}

// Nor is an etcd that lives, and cannot be reached from here: its machine API tells of it.
//
// covers: C-41
func TestAliveOutOfReach(t *testing.T) {
	r, n := alive(t, 50)
	for a := range n.data {
		n.shut[a] = true
	}
	plan, err := r.Prepare(t.Context())
	if err != nil || plan.Alive == nil || len(plan.Alive.Members) != 3 || plan.Alive.Revision != 0 || len(plan.Warnings) != 1 {
		t.Fatalf("%v, %+v", err, plan)
	}
	var text strings.Builder
	must(t, plan.WriteText(&text))
	if want := "node-192.0.2.13 answers, at a revision that cannot be asked from here. That is thrown away, with all that it has had since the snapshot. If"; !strings.Contains(text.String(), want) {
		t.Errorf("the plan does not say %q:\n%s", want, text.String())
	}
	if name, err := r.undo(t.Context(), plan, "x"); err != nil || name == "" {
		t.Errorf("got %q, %v", name, err)
	}
	r.Endpoints = r.Endpoints[1:]
	if _, err := r.Prepare(t.Context()); !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), "--without node-192.0.2.11.") {
		t.Errorf("a forgotten member: %v", err)
	}
}

// Where etcd does not answer, the snapshot tells who was in; that is a warning. What is left
// out is in the marker, and not asked for anything.
//
// covers: C-41
func TestLeftOutFromTheBegin(t *testing.T) {
	r, n := world(t)
	data, version, err := store.ReadSmall(t.Context(), r.Store, snapshot.MetaName(taken))
	must(t, err)
	meta, err := snapshot.DecodeMeta(data)
	must(t, err)
	meta.Members = []snapshot.Member{{Name: "node-192.0.2.11", PeerURLs: []string{"https://192.0.2.11:2380"}}, {Name: "node-x", PeerURLs: []string{"https://192.0.2.99:2380"}}}
	data, err = meta.Encode()
	must(t, err)
	_, err = r.Store.Replace(t.Context(), snapshot.MetaName(taken), data, version)
	must(t, err)
	plan, err := r.Prepare(t.Context())
	const want = "node-x (192.0.2.99) was a member of etcd at the snapshot, and no --node-endpoint stands for it. If it is a control plane still, name it, or leave it out."
	if err != nil || !slices.Equal(plan.Warnings, []string{want}) {
		t.Errorf("got %v, %q", err, plan.Warnings)
	}
	r.Without = []string{"node-x", "192.0.2.13"}
	plan, err = r.Prepare(t.Context())
	if err != nil || len(plan.Warnings) != 0 {
		t.Fatalf("got %v, %q", err, plan.Warnings)
	}
	n.mute["192.0.2.13"] = true
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	result, err := r.Run(ctx, plan)
	if err != nil || result.Outcome != restore.Done || len(result.Marker.LeftOut) != 2 || len(result.Marker.Nodes) != 2 || count(n.asked, "reset 192.0.2.13") != 0 {
		t.Errorf("%v, %+v, asked %v", err, result, n.asked)
	}
}
