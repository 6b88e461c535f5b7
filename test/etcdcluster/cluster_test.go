package etcdcluster

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/test/process"
)

func releases(t *testing.T) []Release {
	t.Helper()
	all, err := Releases(t.Context(), All, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// start makes a cluster of one member, which runs.
func start(t *testing.T, release Release) (*Cluster, *Member) {
	t.Helper()
	c, err := New(Options{Dir: t.TempDir(), Release: release, Token: t.Name(), Flags: []string{"--strict-reconfig-check=false"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	m := c.Member("etcd-0")
	if err := c.Form(t.Context(), []*Member{m}, nil); err != nil {
		t.Fatal(err)
	}
	return c, m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAMembersLife is that of one of each release: added as a learner, promoted,
// killed, started again, halted, removed.
func TestAMembersLife(t *testing.T) {
	for _, release := range releases(t) {
		t.Run(release.Version, func(t *testing.T) {
			c, first := start(t, release)
			m := c.Member("etcd-1")
			id, err := c.Add(t.Context(), m, true)
			must(t, err)
			must(t, m.StartAsJoiner(first))
			must(t, c.Promote(t.Context(), m))
			must(t, c.Healthy(t.Context()))
			if got, err := c.ID(t.Context(), m); got != id || err != nil {
				t.Errorf("the list has ID %x (%v), the answer to the addition %x", got, err, id)
			}
			must(t, m.Kill())
			if err := m.Kill(); !errors.Is(err, process.ErrEnded) {
				t.Errorf("the second kill: %v", err)
			}
			must(t, m.Restart())
			must(t, c.Healthy(t.Context(), m))
			must(t, m.Halt(t.Context()))
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := c.Healthy(short, first); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("half of a cluster serves: %v", err)
			}
			must(t, m.Resume())
			must(t, c.Healthy(t.Context()))
			must(t, c.Remove(t.Context(), m, id))
			must(t, m.Ended(t.Context()))
			if got := c.Running(); len(got) != 1 || got[0] != first {
				t.Errorf("%d run after the removal", len(got))
			}
		})
	}
}

// TestWhoEndsIsNotWaitedFor: a wait ends with the process, and quotes its log.
func TestWhoEndsIsNotWaitedFor(t *testing.T) {
	c, _ := start(t, releases(t)[0])
	m := c.Member("etcd-1")
	must(t, m.Launch("--no-such-flag"))
	err := c.Healthy(t.Context(), m)
	if !errors.Is(err, process.ErrEnded) || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("wait for it: %v", err)
	}
}

func TestARunningMemberIsNotStartedTwice(t *testing.T) {
	c, m := start(t, releases(t)[0])
	if err := m.Restart(); err == nil || err.Error() != "start etcd-0: it runs" {
		t.Errorf("restart: %v", err)
	}
	if err := c.Member("etcd-1").Stop(); !errors.Is(err, errNeverStarted) {
		t.Errorf("stop what never ran: %v", err)
	}
}

func TestAnUnknownReleaseIsRefused(t *testing.T) {
	_, err := Releases(t.Context(), "2.9", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "etcd-2.9: this version cannot be built here") {
		t.Errorf("find it: %v", err)
	}
}

// TestACopyIsTheSame but for what etcd has reserved and not written.
func TestACopyIsTheSame(t *testing.T) {
	c, m := start(t, releases(t)[0])
	must(t, m.Stop())
	copied := filepath.Join(c.Dir, "copy")
	must(t, CopyDisk(m.DataDir, copied))
	files := 0
	must(t, filepath.WalkDir(m.DataDir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		want, err := os.ReadFile(path)
		must(t, err)
		relative, err := filepath.Rel(m.DataDir, path)
		must(t, err)
		got, err := os.ReadFile(filepath.Join(copied, relative))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs: %v", relative, err)
		}
		return nil
	}))
	if files < 2 {
		t.Errorf("%d files were compared", files)
	}
	must(t, os.RemoveAll(m.DataDir))
	must(t, os.Rename(copied, m.DataDir))
	must(t, m.Restart())
	must(t, c.Healthy(t.Context(), m))
}
