package restoreplan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

const etcdPort = constants.EtcdClientPort

// Then implements Beyond.
func (r *Reach) Then(ctx context.Context, name string) (Then, error) {
	if r.storeErr != nil {
		return Then{}, r.storeErr
	}
	if _, err := r.store.Stat(ctx, name); err != nil {
		return Then{}, whole(name, err)
	}
	data, _, err := store.ReadSmall(ctx, r.store, snapshot.MetaName(name))
	if err != nil {
		return Then{}, whole(name, err)
	}
	meta, err := snapshot.DecodeMeta(data)
	if err != nil {
		return Then{}, fmt.Errorf("snapshot %s: %w", name, err)
	}
	return thenOf(meta)
}

func whole(name string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %s", ErrNotWhole, name)
	}
	return fmt.Errorf("snapshot %s: %w", name, err)
}

func thenOf(m snapshot.Meta) (Then, error) {
	t := Then{Time: m.Time, Revision: m.Revision, Quorate: m.Quorate, Authorities: authoritiesOf(m.Authorities), KeyFingerprint: m.KeyFingerprint}
	for _, member := range m.Members {
		id, err := strconv.ParseUint(member.ID, 16, 64)
		if err != nil {
			return Then{}, fmt.Errorf("snapshot %s: read the ID of member %s: %w", m.Name, member.Name, err)
		}
		t.Members = append(t.Members, guard.Member{ID: id, Name: member.Name, PeerURLs: member.PeerURLs, Learner: member.Learner})
	}
	return t, nil
}

// Marker implements Beyond. One that cannot be read, as that of a newer Quorate, stands in
// the way all the same.
func (r *Reach) Marker(ctx context.Context) (*restoring.OtherMarker, error) {
	if r.storeErr != nil {
		return nil, r.storeErr
	}
	m, _, err := restore.Markers{Store: r.store}.Load(ctx)
	switch {
	case errors.Is(err, restore.ErrNoMarker):
		return nil, nil
	case errors.Is(err, restore.ErrNewerMarker), errors.Is(err, restore.ErrMarker):
		return &restoring.OtherMarker{Operation: "unknown", Step: "a step that this version cannot read"}, nil
	case err != nil:
		return nil, err
	case m.Operation.Name == "":
		return &restoring.OtherMarker{Operation: "ordered by command line", Snapshot: m.Snapshot.Name, Step: m.Step}, nil
	}
	return &restoring.OtherMarker{Operation: m.Operation.Name, Snapshot: m.Snapshot.Name, Step: m.Step}, nil
}

// KeysNow implements Beyond.
func (r *Reach) KeysNow(ctx context.Context, prefix string) iter.Seq2[string, error] {
	if r.bundleErr != nil {
		return failed(r.bundleErr)
	}
	if r.etcd == nil {
		client, err := etcd.New(ctx, etcd.Options{Endpoints: r.etcdURLs(), TLS: r.bundle.talos.EtcdTLS()})
		if err != nil {
			return failed(err)
		}
		r.etcd = client
	}
	return r.etcd.Keys(ctx, prefix)
}

// Found implements Beyond.
func (r *Reach) Found(ctx context.Context, name string) (snapshot.Inspection, error) {
	path, err := r.inPlain(ctx, name)
	if err != nil {
		return snapshot.Inspection{}, err
	}
	return r.worker.Inspect(ctx, path)
}

// KeysThen implements Beyond.
func (r *Reach) KeysThen(ctx context.Context, name, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		path, err := r.inPlain(ctx, name)
		if err != nil {
			yield("", err)
			return
		}
		for key, err := range r.worker.Keys(ctx, path, prefix) {
			if !yield(key, err) {
				return
			}
		}
	}
}

// inPlain decrypts a snapshot once, into a file without a name that Close lets go of. It
// ends with this process at the latest.
func (r *Reach) inPlain(ctx context.Context, name string) (path string, err error) {
	switch {
	case r.storeErr != nil:
		return "", r.storeErr
	case r.bundleErr != nil:
		return "", r.bundleErr
	case r.plainOf == name:
		return r.plain, nil
	}
	path, erase, err := r.decrypted(ctx, name)
	if err != nil {
		return "", err
	}
	if r.erase != nil {
		_ = r.erase() // of another snapshot; nothing is to be kept
	}
	r.plain, r.plainOf, r.erase = path, name, erase
	return path, nil
}

func (r *Reach) decrypted(ctx context.Context, name string) (path string, erase func() error, err error) {
	encrypted, _, err := r.store.Get(ctx, name)
	if err != nil {
		return "", nil, whole(name, err)
	}
	defer func() { _ = encrypted.Close() }() // nothing was written to it
	plain, err := snapshot.Open(encrypted, r.bundle.key)
	if err != nil {
		return "", nil, err
	}
	return snapshot.Spill("", "quorate-plan-*", func(w io.Writer) error {
		_, err := io.Copy(w, plain)
		return err
	})
}

func failed(err error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("", err) }
}
