package recovercluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
)

// From bundle and store alone: staged, pinned, wiped, recovered; the marker stays.
//
// covers: C-41
func TestRecover(t *testing.T) {
	r, n := world(t)
	r.At = &restoring.StoreSettings{Bucket: "backups"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	plan, err := r.Prepare(ctx)
	must(t, err)
	var text strings.Builder
	must(t, plan.WriteText(&text))
	const want = `Recovery of etcd of cluster prod from snapshot etcd-20300102T150405Z.snapshot.age, taken 2030-01-02T15:04:05Z

What happens
  1. Check snapshot etcd-20300102T150405Z.snapshot.age, and keep a sealed copy of it beside the backups
  2. Wipe etcd data on 192.0.2.11, 192.0.2.12, 192.0.2.13, all at once; each reboots
  3. Recover etcd on 192.0.2.11 from the snapshot
  4. Wait until the others have rejoined etcd
  5. Leave the marker in the store: the controller finishes what needs Kubernetes

Everything that was written after the snapshot is lost.
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	if len(n.asked) != 0 {
		t.Errorf("a plan has changed something: %v", n.asked)
	}
	result, err := r.Run(ctx, plan)
	if err != nil || result.Outcome != restore.Done {
		t.Fatalf("%v, %+v", err, result)
	}
	m, _, err := restore.Markers{Store: r.Store}.Load(ctx)
	if err != nil || !m.JobDone || m.Cluster != "prod" || m.Pinned.Floor < ahead || m.Operation.Requester != "alice" || m.Snapshot.Revision != 11 {
		t.Errorf("%v, %+v", err, m)
	}
	for _, a := range []string{"reset 192.0.2.11", "reset 192.0.2.12", "reset 192.0.2.13", "recover 192.0.2.11", "bootstrap 192.0.2.11"} {
		if count(n.asked, a) != 1 {
			t.Errorf("%s: %d times in %v", a, count(n.asked, a), n.asked)
		}
	}
	if want := restoring.Afterwards(*r.At, "prod", "default", nil, false); plan.Afterwards != want {
		t.Errorf("afterwards: %q, want %q", plan.Afterwards, want)
	}
	if n.upload != m.Pinned.PlainSize || n.upload == 0 {
		t.Errorf("%d bytes were uploaded, and %d pinned", n.upload, m.Pinned.PlainSize)
	}
}

func count(list []string, what string) (n int) {
	for _, l := range list {
		if l == what {
			n++
		}
	}
	return n
}

// A restore that stopped half-way goes on: what was wiped is not wiped again, and neither
// snapshot nor endpoints are wanted.
//
// covers: C-41
func TestGoesOn(t *testing.T) {
	r, n := world(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	plan, err := r.Prepare(ctx)
	must(t, err)
	must(t, r.begin(ctx, plan, "the controller that died"))
	n.data["192.0.2.11"], n.data["192.0.2.12"], n.data["192.0.2.13"] = false, false, false
	for a := range n.data {
		n.boots[a]++
	}
	again := *r
	again.Snapshot, again.Endpoints = "", nil
	plan, err = again.Prepare(ctx)
	if err != nil || !plan.GoesOn || plan.Owner != "the controller that died" || plan.Step != string(v1alpha1.StepWiping) {
		t.Fatalf("%v, %+v", err, plan)
	}
	result, err := again.Run(ctx, plan)
	if err != nil || result.Outcome != restore.Done || !strings.Contains(result.Marker.TakenOver, "a person ordered it") {
		t.Fatalf("%v, %+v", err, result)
	}
	if slices.ContainsFunc(n.asked, func(a string) bool { return strings.HasPrefix(a, "reset") }) {
		t.Errorf("wiped again: %v", n.asked)
	}
	other := *r
	other.Snapshot = "etcd-20300101T000000Z.snapshot.age"
	if _, err := other.Prepare(ctx); !errors.Is(err, ErrOther) {
		t.Errorf("got %v", err)
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(r *Recovery)
		is     error
		want   string
	}{
		{"no snapshot", func(r *Recovery) { r.Snapshot = "" }, ErrIncomplete, "there is no restore to go on with: the store has no marker. Name a snapshot with --snapshot, and the machine API of each control plane with --node-endpoint"},
		{"no nodes", func(r *Recovery) { r.Endpoints = nil }, ErrIncomplete, "there is no restore to go on with: the store has no marker. Name a snapshot with --snapshot, and the machine API of each control plane with --node-endpoint"},
		{"not whole", func(r *Recovery) { r.Snapshot = "etcd-20300101T000000Z.snapshot.age" }, ErrBlocked, "the restore cannot begin: the store has no whole snapshot etcd-20300101T000000Z.snapshot.age"},
		{"a CA", func(r *Recovery) { r.Authorities.Etcd = "sha256:e2" }, ErrBlocked, ""},
		{"a newer Quorate", func(r *Recovery) { r.Quorate = "v0.9.0" }, ErrBlocked, "the restore cannot begin: The snapshot was taken by Quorate v1.0.0, and this is v0.9.0: its objects may say what this version does not understand. Upgrade Quorate first."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, n := world(t)
			tt.change(r)
			_, err := r.Prepare(t.Context())
			if !errors.Is(err, tt.is) || tt.want != "" && err.Error() != tt.want || len(n.asked) != 0 {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
