package disks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/test/etcdcluster"
)

// row is one disk under one set of circumstances.
type row struct {
	name string
	disk string
	// damage is done to a copy of the disk.
	damage damage
	// list is the one that is answered; empty if nobody answers.
	list string
	// ledger is by the disk's IDs; nil is an empty one.
	ledger func(member, cluster rejoin.ID) []rejoin.Removal
	// self changes who asks: by default the disk's own member, of a cluster that was
	// recorded, with replicas for everyone.
	self func(*rejoin.Self)
	want want
	// or is what else may be, where timing decides what is on the disk.
	or []want
}

type want struct {
	action rejoin.Action
	err    error
	by     rejoin.By
	// says are parts of the reason; {id} and {cluster} are the disk's.
	says []string
}

func intended(member, cluster rejoin.ID) []rejoin.Removal {
	return []rejoin.Removal{{MemberID: member, ClusterID: cluster}}
}

func confirmed(member, cluster rejoin.ID) []rejoin.Removal {
	return []rejoin.Removal{{MemberID: member, ClusterID: cluster, Confirmed: true}}
}

// ofOthers are confirmed removals that are none of the member's.
func ofOthers(member, cluster rejoin.ID) []rejoin.Removal {
	return append(confirmed(member+1, cluster), confirmed(member, cluster+1)...)
}

// judgeTimeout bounds all the asking for one row.
const judgeTimeout = 90 * time.Second

func (e *estate) check(t *testing.T, r row) {
	d, ok := e.disks[r.disk]
	if !ok {
		t.Fatalf("nobody wrote the disk %q", r.disk)
	}
	if r.damage != nil {
		dir := filepath.Join(t.TempDir(), "data")
		must(t, etcdcluster.CopyDisk(d.dir, dir))
		r.damage(t, dir)
		d.dir = dir
	}
	before := trace(t, d.dir)
	got := judge(t, e.facts(t, r, d), d.dir)
	if !strings.HasPrefix(r.disk, "a running") && !slices.Equal(before, trace(t, d.dir)) {
		t.Error("the disk was touched")
	}
	var misses []string
	for _, w := range append([]want{r.want}, r.or...) {
		miss := w.miss(got, d)
		if miss == "" {
			return
		}
		misses = append(misses, miss)
	}
	t.Errorf("%s, %v, by %s: %q\n%s", got.Action, got.Err, got.By, got.Reason, strings.Join(misses, "\n"))
}

func (e *estate) facts(t *testing.T, r row, d disk) rejoin.Facts {
	t.Helper()
	f := rejoin.Facts{
		Self: rejoin.Self{Name: d.name, PeerURLs: []string{d.peerURL}, Replicas: 1000, ClusterID: d.clusterID},
		Live: rejoin.Live{Why: "nobody listens"},
	}
	if _, err := fmt.Sscanf(d.name, "etcd-%d", &f.Self.Ordinal); err != nil {
		t.Fatal(err)
	}
	if r.list != "" {
		live, ok := e.lists[r.list]
		if !ok {
			t.Fatalf("nobody took down the list %q", r.list)
		}
		f.Live = live
	}
	if r.ledger != nil {
		f.Ledger = r.ledger(d.memberID, d.clusterID)
	}
	if r.self != nil {
		r.self(&f.Self)
	}
	f.Disk = rejoin.ReadDisk(d.dir)
	if f.Disk.State == rejoin.HasWAL && (f.Disk.MemberID != d.memberID || f.Disk.ClusterID != d.clusterID) {
		t.Errorf("the disk says %s of %s, and the cluster said %s of %s", f.Disk.MemberID, f.Disk.ClusterID, d.memberID, d.clusterID)
	}
	return f
}

// judge is the loop of the agent: it asks the witness that the verdict wants.
func judge(t *testing.T, f rejoin.Facts, dir string) rejoin.Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), judgeTimeout)
	defer cancel()
	for range 3 {
		v := rejoin.Judge(f)
		switch v.Action {
		case rejoin.AskTombstone:
			f.Tombstone = reader.Tombstone(ctx, dir, f.Disk.MemberID)
		case rejoin.AskLog:
			f.Logged = rejoin.ReadLog(ctx, dir, f.Disk.MemberID)
		case rejoin.AskApplied:
			f.Applied = reader.Applied(ctx, dir)
		default:
			return v
		}
	}
	t.Fatal("no verdict after each witness was asked")
	return rejoin.Verdict{}
}

// miss says in what the verdict is not what is wanted.
func (w want) miss(got rejoin.Verdict, d disk) string {
	if got.Action != w.action || !errors.Is(got.Err, w.err) || got.By != w.by {
		return fmt.Sprintf("want %s, %v, by %s", w.action, w.err, w.by)
	}
	if strings.ContainsAny(got.Reason, "\r\n") {
		return "the reason has more than one line"
	}
	for _, part := range w.says {
		part = strings.NewReplacer("{id}", d.memberID.String(), "{cluster}", d.clusterID.String()).Replace(part)
		if !strings.Contains(got.Reason, part) {
			return fmt.Sprintf("the reason lacks %q", part)
		}
	}
	return ""
}

// TestVerdictsOverRealDisks: each release writes its disks first; then each row is
// judged over a disk as it was left, or over a damaged copy.
func TestVerdictsOverRealDisks(t *testing.T) {
	releases, err := etcdcluster.Releases(t.Context(), etcdcluster.All, os.Stderr)
	must(t, err)
	for _, release := range releases {
		t.Run(release.Version, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			e := newEstate(t, release)
			e.removals()
			e.incarnations()
			e.purged()
			t.Logf("%d disks and %d lists after %s", len(e.disks), len(e.lists), time.Since(began).Round(time.Second))
			for _, share := range e.shares {
				t.Log(share)
			}
			for _, r := range rows() {
				t.Run(r.name, func(t *testing.T) { e.check(t, r) })
			}
		})
	}
}
