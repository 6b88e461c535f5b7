package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/recovercluster"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/worker"
	"github.com/quorate/quorate/internal/store"
)

// TestMain is the child's role too, as this program is what a snapshot.Worker starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == snapshot.Role {
		os.Exit(worker.Serve(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// What is missing, and what is answered, ends it before anything is touched: no file is
// left, and the store is as it was.
//
// covers: C-41
func TestRestoreRecoverAsks(t *testing.T) {
	l := newLost(t)
	const ask, name = "\nRecover etcd of cluster prod? [y/N] ", "The cluster's name, to be sure: "
	// Nobody listens there.
	whole := []string{"--recover-cluster", "--bundle", l.bundle, "--store", l.folder, "--snapshot", lostSnapshot, "--node-endpoint", "127.9.8.7:1", "--node-endpoint", "127.9.8.8:1"}
	for _, tt := range []struct {
		in   string
		args []string
		code int
		want string
	}{
		{"", nil, exitUsage, "quorate: which restore? Give --live for a cluster whose API answers, or --recover-cluster for one without\n"},
		{"", []string{"--live", "--recover-cluster"}, exitUsage, "quorate: which restore? Give --live for a cluster whose API answers, or --recover-cluster for one without\n"},
		{"", whole[:1], exitUsage, "quorate: which cluster? Give the file of its Talos secrets bundle with --bundle\n"},
		{"", whole[:3], exitUsage, "quorate: where are the backups? Give --store s3://bucket/prefix, or a folder\n"},
		{"", whole[:5], exitUsage, "quorate: there is no restore to go on with: the store has no marker. Name a snapshot with --snapshot, and the machine API of each control plane with --node-endpoint\n"},
		{"", append(slices.Clone(whole[:4]), l.folder+"s"), exitUsage, "quorate: there is no folder " + l.folder + "s. Give the one that has the backups, or --store s3://bucket/prefix\n"},
		{"n\n", whole, exitFailed, ask + "quorate: declined; nothing was changed\n"},
		{"", whole, exitFailed, ask + "\nquorate: nobody answered; nothing was changed. Give --yes to skip the question\n"},
		{"y\ntest\n", whole, exitFailed, ask + name + "quorate: the name given is \"test\", and the cluster is prod; nothing was changed\n"},
		{"", append(slices.Clone(whole), "--yes"), exitFailed, name + "\nquorate: nobody answered; nothing was changed. Give the name with --confirm\n"},
	} {
		code, out, errs := l.run(t, tt.in, tt.args...)
		if code != tt.code || errs != tt.want {
			t.Errorf("%q: exit %d, stderr\n%q, want %d\n%q", tt.args, code, errs, tt.code, tt.want)
		}
		if planned := strings.Contains(out, "  2. Wipe etcd data on 127.9.8.7:1, 127.9.8.8:1, all at once; each reboots\n"); planned != (tt.code == exitFailed) {
			t.Errorf("%q: stdout %q", tt.args, out)
		}
	}
	left, err := os.ReadDir(l.temp)
	if _, err := os.Stat(l.folder + "s"); !os.IsNotExist(err) {
		t.Errorf("a folder that was mistyped: %v, want it not to be there", err)
	}
	kept, err2 := filepath.Glob(filepath.Join(l.folder, "etcd-restore*"))
	if err != nil || err2 != nil || len(left)+len(kept) != 0 {
		t.Errorf("left behind %v, %v (%v, %v)", left, kept, err, err2)
	}
}

// A restore whose controller died while control planes rejoined is taken over and ended,
// with nothing but the store, and the marker stays for the controller.
//
// covers: C-41
func TestRestoreRecoverGoesOn(t *testing.T) {
	dir, nodes := t.TempDir(), &joined{}
	at, err := store.NewFolder(dir)
	check(t, err)
	folder, err := restore.OpenFolder(filepath.Join(t.TempDir(), "job"), filepath.Join(t.TempDir(), "keys"))
	check(t, err)
	m, err := restore.NewRecovery(t.Context(), nodes, restore.Recovery{Cluster: "prod", Namespace: "default", Identity: "a controller that died", Quorate: "v1.0.0",
		Snapshot: restore.Snapshot{Name: lostSnapshot}, Pinned: restore.Pinned{Floor: 1_000_000_000}, Endpoints: []string{"192.0.2.11", "192.0.2.12"}, Now: time.Now()})
	check(t, err)
	m.Step = v1alpha1.StepRejoining
	_, err = restore.Markers{Store: at}.Create(t.Context(), m)
	check(t, err)
	r := &recovercluster.Recovery{Store: at, Nodes: nodes, Etcd: nodes, Folder: folder, Quorate: "v1.0.0", Now: time.Now, Limits: restore.Limits{Poll: time.Millisecond}}
	var out, errs bytes.Buffer
	r.Report = recoverReport(&errs)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = recoverCluster(ctx, r, liveOptions{}, newPerson(strings.NewReader("y\nprod\n"), &errs), &out, "json")
	var got recovered
	if decodeErr := json.Unmarshal(out.Bytes(), &got); err != nil || decodeErr != nil || got.Outcome != restore.Done || !got.Plan.GoesOn || got.Plan.Owner != "a controller that died" {
		t.Fatalf("%v, %v, %s, %s", err, decodeErr, out.String(), errs.String())
	}
	if !strings.Contains(errs.String(), "Running Rejoining") || !strings.Contains(errs.String(), "Take the restore over from a controller that died") || len(nodes.wiped) != 0 {
		t.Errorf("wiped %v, said %s", nodes.wiped, errs.String())
	}
	if m, _, err = (restore.Markers{Store: at}).Load(t.Context()); err != nil || !m.JobDone {
		t.Errorf("the marker is %+v, %v", m, err)
	}
}

// Whatever is not done is a failure, with what the job says.
func TestTellRecovered(t *testing.T) {
	var out bytes.Buffer
	plan := &recovercluster.Plan{Cluster: "prod"}
	err := tellRecovered(&out, plan, restore.Result{Outcome: restore.Paused, Why: "cp-a does not answer."}, "table")
	if exitCode(err) != exitFailed || err.Error() != "the restore is not done (paused): cp-a does not answer." || out.Len() != 0 {
		t.Errorf("%v, %s", err, out.String())
	}
	const done = "etcd of cluster prod is recovered and complete, after 0 extra wipes. Once the API answers, the controller does the rest: see quorate operation list.\n" + workersText + "\n"
	for afterwards, want := range map[string]string{"": done, "See that a backup leads here.": done + "See that a backup leads here.\n"} {
		out.Reset()
		plan.Afterwards = afterwards
		if err := tellRecovered(&out, plan, restore.Result{Outcome: restore.Done}, "table"); err != nil || out.String() != want {
			t.Errorf("%v, %q", err, out.String())
		}
	}
}
