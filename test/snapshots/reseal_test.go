package snapshots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/test/etcdcluster"
	"github.com/quorate/quorate/test/product"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// program is the product, built once.
var program = sync.OnceValues(func() (string, error) {
	ctx := context.Background() // both have limits of their own
	root, err := product.Root(ctx)
	if err != nil {
		return "", err
	}
	return product.Build(ctx, root, "quorate")
})

// worker starts the product in its role.
func worker(t *testing.T) *snapshot.Worker {
	t.Helper()
	program, err := program()
	must(t, err)
	return &snapshot.Worker{Command: []string{program, snapshot.Role}}
}

// original is a cluster of one, of a release, whose disk is not waited for.
func original(t *testing.T, release etcdcluster.Release) (*etcdcluster.Cluster, *etcdcluster.Member) {
	t.Helper()
	c, err := etcdcluster.New(etcdcluster.Options{
		Dir: t.TempDir(), Release: release, Token: "t", Flags: []string{"--unsafe-no-fsync", "--max-request-bytes=4194304"},
	})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	m := c.Member("m-0")
	must(t, c.Form(t.Context(), []*etcdcluster.Member{m}, nil))
	return c, m
}

func client(t *testing.T, m *etcdcluster.Member) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{m.ClientURL}, DialTimeout: 10 * time.Second, MaxCallSendMsgSize: 8 << 20})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

const bump = 1_000_000_000

// What is resealed is restored by the release that the snapshot is of, with the hash
// checked, and by no other means than Talos uses. It has the same keys and begins at
// the bumped revision; a watch from before is told that its revision is compacted.
func TestResealedIsAccepted(t *testing.T) {
	w := worker(t)
	releases, err := etcdcluster.Releases(t.Context(), etcdcluster.All, os.Stderr)
	must(t, err)
	for _, release := range releases {
		t.Run(release.Version, func(t *testing.T) {
			c, m := original(t, release)
			revision := fill(t, m)
			dir := t.TempDir()
			taken, out := filepath.Join(dir, "taken"), filepath.Join(dir, "out")
			must(t, c.Snapshot(t.Context(), m, taken))
			must(t, m.Stop())
			made, err := w.Reseal(t.Context(), taken, out, bump)
			must(t, err)
			if made.Before != revision || made.Revision != revision+bump || made.Keys != 90 {
				t.Errorf("made %+v of revision %d", made, revision)
			}
			recovered := c.Member("m-1")
			must(t, release.Restore(t.Context(), out, recovered.DataDir, recovered, recovered))
			must(t, recovered.Restart())
			must(t, c.Healthy(t.Context(), recovered))
			serves(t, recovered, revision)
			listed(t, w, out)
		})
	}
}

// fill writes 100 keys, deletes ten of them, and answers the revision then.
func fill(t *testing.T, m *etcdcluster.Member) int64 {
	t.Helper()
	c, ctx := client(t, m), within(t, time.Minute)
	for i := range 100 {
		_, err := c.Put(ctx, key(i), "before")
		must(t, err)
	}
	var last *clientv3.DeleteResponse
	for i := range 10 {
		var err error
		last, err = c.Delete(ctx, key(i))
		must(t, err)
	}
	return last.Header.Revision
}

func key(i int) string { return fmt.Sprintf("/registry/%02d", i) }

// serves checks what a client sees of the recovered member.
func serves(t *testing.T, m *etcdcluster.Member, before int64) {
	t.Helper()
	c, ctx := client(t, m), within(t, time.Minute)
	all, err := c.Get(ctx, "", clientv3.WithPrefix())
	must(t, err)
	if all.Count != 90 || all.Header.Revision != before+bump || string(all.Kvs[0].Value) != "before" {
		t.Errorf("%d keys at revision %d, want 90 at %d", all.Count, all.Header.Revision, before+bump)
	}
	// Such a watch is one of a kubelet's that was away meanwhile and had seen more.
	for watch := range c.Watch(ctx, key(50), clientv3.WithRev(before+100)) {
		if err := watch.Err(); !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("a watch from before: %v, want %v", err, rpctypes.ErrCompacted)
		}
		break
	}
	put, err := c.Put(ctx, key(50), "after")
	must(t, err)
	if put.Header.Revision != before+bump+1 {
		t.Errorf("the first write is revision %d, want %d", put.Header.Revision, before+bump+1)
	}
}

// listed checks what the program reads in the result.
func listed(t *testing.T, w *snapshot.Worker, path string) {
	t.Helper()
	var got, want []string
	for key, err := range w.Keys(t.Context(), path, "/registry/") {
		must(t, err)
		got = append(got, key)
	}
	for i := 10; i < 100; i++ {
		want = append(want, key(i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("it lists %q", got)
	}
}
