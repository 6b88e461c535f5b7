package restore

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

// Plane is the control plane of a TalosCluster as it is now.
type Plane interface {
	// Bundle is the cluster's Talos secrets; talos.ErrBundle where they cannot be used.
	Bundle(context.Context, *v1alpha1.TalosCluster) (*talos.Bundle, error)
	// Machines are all of the cluster, past any cache.
	Machines(ctx context.Context, namespace, cluster string) ([]v1alpha1.TalosMachine, error)
}

// Node is what preparing asks of a machine. Nothing in it changes one.
type Node interface {
	Address() string
	VerifyCluster(context.Context) error
	NodeName(context.Context) (string, error)
	BootID(context.Context) (string, error)
	HasEtcdData(context.Context) (bool, error)
	Volumes(context.Context) ([]string, error)
	Close() error
}

// Worker opens snapshots in plain in another process.
type Worker interface {
	Inspect(ctx context.Context, path string) (snapshot.Inspection, error)
	Reseal(ctx context.Context, in, out string, bump int64) (snapshot.Resealed, error)
}

// Secrets are what the secrets bundle gives for snapshots.
type Secrets struct {
	Key         *snapshot.Key
	Authorities snapshot.Fingerprints
}

// Preparer is Preparing for real.
type Preparer struct {
	// Live reads from the API server itself.
	Live  client.Reader
	Plane Plane
	// Dial makes a client of a machine and asks nothing yet; Probe asks its etcd.
	Dial  func(*talos.Bundle, *v1alpha1.TalosMachine) (Node, error)
	Probe func(ctx context.Context, b *talos.Bundle, address string) (restore.Probe, error)
	// Secrets derives them from the cluster's bundle.
	Secrets func(context.Context, *v1alpha1.TalosCluster) (Secrets, error)
	Worker  Worker
	// Undo takes a snapshot of etcd as it is, in the backup's store, and gives its name.
	Undo func(ctx context.Context, o Order) (string, error)
	// Folder is the cluster's in this process.
	Folder func(types.NamespacedName) (*restore.Folder, error)
	// StoreAt says where in this cluster a store seems to run; empty if it does not.
	StoreAt func(ctx context.Context, endpoint string) (string, error)
	Events  events.EventRecorder
	Clock   clock.PassiveClock
	Log     logr.Logger
	// Version is this program's, NodeName the Node that it runs on.
	Version, NodeName string
	// Hold is how long the process owns a restore before it renews that; 0 is the default.
	Hold time.Duration
}

// Prepare implements Preparing.
func (p *Preparer) Prepare(ctx context.Context, o Order, check func(context.Context) error, say func(string)) (*restore.Marker, error) {
	folder, err := p.Folder(client.ObjectKeyFromObject(o.Cluster))
	if err != nil {
		return nil, err
	}
	w := &preparation{Preparer: p, Order: o, folder: folder}
	for _, s := range preparations {
		if err := check(ctx); err != nil {
			return nil, w.undone(ctx, err)
		}
		if s.says != "" {
			say(s.says)
		}
		if err := s.do(w, ctx); err != nil {
			return nil, w.undone(ctx, err)
		}
	}
	return w.marker, nil
}

// preparations are what is done, in this order. The marker is last.
var preparations = []struct {
	says string
	do   func(*preparation, context.Context) error
}{
	{"what is asked for is compared with the cluster", (*preparation).read},
	{"every control plane is asked", (*preparation).ask},
	{"", (*preparation).judge},
	{"the object store is tried", (*preparation).try},
	{"the snapshot is read and checked", (*preparation).fetch},
	{"the snapshot is looked into", (*preparation).inspect},
	{"a snapshot of etcd as it is now is taken", (*preparation).undo},
	{"the snapshot gets a later revision, so that nobody takes old for new", (*preparation).reseal},
	{"a copy of it is stored beside the backups", (*preparation).pin},
	{"", (*preparation).mark},
}

// preparation is one restore being prepared.
type preparation struct {
	*Preparer
	Order
	folder *restore.Folder

	bundle   *talos.Bundle
	machines []v1alpha1.TalosMachine
	secrets  Secrets
	meta     snapshot.Meta
	seen     sight
	etcds    []restore.EtcdSize
	// live is the revision of etcd as it is.
	live       int64
	inspection snapshot.Inspection
	undoName   string
	resealed   snapshot.Resealed
	pinned     restore.Pinned
	// pinning is the name of the copy once it may be in the store; staging is set once the
	// folder is this restore's, marking once the marker may be in the store.
	pinning          string
	staging, marking bool
	marker           *restore.Marker
}

// undone leaves nothing behind: no copy, no plaintext. What may have become a restore is
// left as it is, since its marker decides.
func (w *preparation) undone(ctx context.Context, err error) error {
	if w.marking {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if w.pinning != "" {
		if gone := w.Store.Delete(ctx, w.pinning); gone != nil {
			w.Log.Error(gone, "the copy of the snapshot stays in the object store for a day", "name", w.pinning)
		}
	}
	if !w.staging {
		return err // it may be the folder of another restore
	}
	if erased := w.folder.Erase(); erased != nil {
		w.Log.Error(erased, "the folder of the restore could not be erased; it goes with the pod")
	}
	return err
}

// copyPlain opens an encrypted snapshot of the store; its reader ends with io.EOF only
// if the snapshot is whole.
func (w *preparation) copyPlain(ctx context.Context, name string, to io.Writer) (store.Info, error) {
	sealed, info, err := w.Store.Get(ctx, name)
	if err != nil {
		return info, fmt.Errorf("read %s: %w", name, err)
	}
	defer func() { _ = sealed.Close() }() // nothing was written to it
	plain, err := snapshot.Open(sealed, w.secrets.Key)
	if err != nil {
		return info, fmt.Errorf("decrypt %s: %w", name, err)
	}
	if _, err := io.Copy(to, plain); err != nil {
		return info, fmt.Errorf("read and check %s: %w", name, err)
	}
	return info, nil
}
