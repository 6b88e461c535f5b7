package worker

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// snapshotOf is a snapshot of what write puts into a store of etcd's own. The store's
// first revision is 1, and each Put and DeleteRange raises it.
func snapshotOf(t testing.TB, write func(kv mvcc.KV)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snapshot")
	must(t, makeSnapshot(path, write))
	return path
}

func makeSnapshot(path string, write func(kv mvcc.KV)) error {
	config := backend.DefaultBackendConfig(zap.NewNop())
	config.Path, config.UnsafeNoFsync = path, true
	b := backend.New(config)
	kv := mvcc.NewStore(zap.NewNop(), b, &lease.FakeLessor{}, mvcc.StoreConfig{})
	members := schema.NewMembershipBackend(zap.NewNop(), b)
	members.MustCreateBackendBuckets()
	for i, name := range []string{"cp-2", "cp-1"} {
		members.MustSaveMemberToBackend(&membership.Member{
			ID: types.ID(i + 1), RaftAttributes: membership.RaftAttributes{PeerURLs: []string{"https://" + name + ".example.com:2380"}, IsLearner: name == "cp-2"},
			Attributes: membership.Attributes{Name: name},
		})
	}
	write(kv)
	kv.Commit()
	if err := errors.Join(kv.Close(), b.Close()); err != nil {
		return err
	}
	_, _, err := seal(path)
	return err
}

// resum puts the sum behind what is in a file.
func resum(t testing.TB, path string) {
	t.Helper()
	_, _, err := seal(path)
	must(t, err)
}

// contentOf is a snapshot's database, without its sum.
func contentOf(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data[:len(data)-sha256.Size]
}

func put(kv mvcc.KV, key, value string) { kv.Put([]byte(key), []byte(value), lease.NoLease) }

const crd = `{"apiVersion":"apiextensions.k8s.io/v1","spec":{"versions":[{"name":"v1beta1","served":false},{"name":"v1alpha1","served":true},{"name":"v1","served":true}]}}`

// small has two keys alive of five, and two CRDs.
func small(kv mvcc.KV) {
	put(kv, "/registry/pods/default/b", "1")
	put(kv, "/registry/pods/default/a", "1")
	put(kv, "/registry/pods/default/b", "2")
	put(kv, "/registry/pods/default/c", "1")
	kv.DeleteRange([]byte("/registry/pods/default/c"), nil)
	put(kv, "/registry"+crdFolder+"etcds.quorate.dev", crd)
	put(kv, "/registry"+crdFolder+"talosclusters.quorate.dev", "k8s:enc:secretbox:v1:key:"+string(bytes.Repeat([]byte{1}, 20)))
	put(kv, "/registry"+crdFolder+"others.example.com", crd)
}

func many(n int) func(kv mvcc.KV) {
	return func(kv mvcc.KV) {
		for i := range n {
			// No order of their own, so that a batch is cut somewhere within.
			put(kv, fmt.Sprintf("/registry/%x", sha256.Sum256(fmt.Append(nil, i))), "")
		}
	}
}
