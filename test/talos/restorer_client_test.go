package talos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/etcd"
	product "github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/test/cluster"
)

// restorer is the product's client of one node.
func restorer(t *testing.T, n *Node) *product.Restorer {
	t.Helper()
	b, err := product.LoadBundle(n.cluster.Bundle())
	must(t, err)
	r, err := product.NewRestorer(b, product.Options{Address: n.Endpoint()})
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

// probed is what the node's etcd says of itself.
func probed(ctx context.Context, n *Node) (etcd.ProbeResult, error) {
	b, err := product.LoadBundle(n.cluster.Bundle())
	if err != nil {
		return etcd.ProbeResult{}, err
	}
	return etcd.Probe(ctx, etcd.Options{Endpoints: []string{"https://" + net.JoinHostPort(n.IP, etcdClientPort)}, TLS: b.EtcdTLS()})
}

// taken is a snapshot by the product's client, whole by its sum.
func taken(t *testing.T, r *product.Restorer) []byte {
	t.Helper()
	stream, err := r.Snapshot(t.Context())
	must(t, err)
	content, err := io.ReadAll(stream)
	must(t, errors.Join(err, stream.Close()))
	end := max(0, len(content)-sha256.Size)
	if sum := sha256.Sum256(content[:end]); !bytes.Equal(sum[:], content[end:]) {
		t.Fatalf("a snapshot of %d bytes does not end in its sum", len(content))
	}
	return content
}

// wiped resets the nodes at once and, again, those that have rejoined the old cluster,
// until none has data in one pass. It counts the resets.
func wiped(t *testing.T, clients map[string]*product.Restorer) (resets int) {
	t.Helper()
	boots := map[string]string{}
	reset := func(ctx context.Context, name string) error {
		r := clients[name]
		volumes, err := r.Volumes(ctx)
		if err != nil {
			return err
		}
		if boots[name], err = r.BootID(ctx); err != nil {
			return err
		}
		resets++
		return r.Reset(ctx, volumes)
	}
	for name := range clients {
		must(t, reset(t.Context(), name))
	}
	must(t, cluster.Until(t.Context(), "no node to have data", func(ctx context.Context) error {
		var left []error
		for name, r := range clients {
			left = append(left, looked(ctx, r, boots[name], func() error { return reset(ctx, name) }))
		}
		return errors.Join(left...)
	}))
	return resets
}

// looked tells whether a node has been wiped since a boot; again is for one that has come
// back with data.
func looked(ctx context.Context, r *product.Restorer, before string, again func() error) error {
	boot, err := r.BootID(ctx)
	if err != nil {
		return err
	}
	if boot == before {
		return fmt.Errorf("%s has not rebooted", r.Address())
	}
	has, err := r.HasEtcdData(ctx)
	if err == nil && has {
		err = errors.Join(fmt.Errorf("%s has data again", r.Address()), again())
	}
	return err
}

// ready repeats a call while the node is booting.
func ready(t *testing.T, what string, call func(context.Context) error) {
	t.Helper()
	must(t, cluster.Until(t.Context(), what, func(ctx context.Context) error {
		err := call(ctx)
		if err != nil && !errors.Is(err, product.ErrNotReady) {
			t.Fatal(err)
		}
		return err
	}))
}

// TestRestoreByTheProduct walks through a restore by the calls of the product alone: a
// snapshot, a reset of all, an upload, a bootstrap. The recovered etcd is told by its own
// revision and its list of one; the others join it by themselves.
func TestRestoreByTheProduct(t *testing.T) {
	whole(t, shared)
	target := shared.Node("cp-1")
	clients := map[string]*product.Restorer{}
	for _, n := range shared.ControlPlanes() {
		clients[n.Name] = restorer(t, n)
	}
	r := clients["cp-1"]
	content := taken(t, r)
	before, err := probed(t.Context(), target)
	must(t, err)
	_, err = etcdOf(t, target).Put(within(t, time.Minute), "since", "the snapshot")
	must(t, err)
	if err := r.Bootstrap(t.Context()); !errors.Is(err, product.ErrHasData) {
		t.Errorf("a bootstrap of a node that has data: %v", err)
	}

	resets := wiped(t, clients)
	t.Logf("%d resets for %d nodes", resets, len(clients))
	for _, name := range []string{"cp-2", "cp-3"} {
		shared.Node(name).PowerOff() // they would join at once
	}
	ready(t, "the upload", func(ctx context.Context) error { return r.Recover(ctx, bytes.NewReader(content)) })
	ready(t, "the bootstrap", r.Bootstrap)
	recovered(t, target, before)
	must(t, cluster.Until(t.Context(), "the service etcd to be healthy", func(ctx context.Context) error {
		s, err := r.EtcdService(ctx)
		if err == nil && (s.State != stateRunning || !s.Healthy) {
			err = fmt.Errorf("it is %+v", s)
		}
		return err
	}))
	if alarms, err := r.Alarms(t.Context()); err != nil || len(alarms) != 0 {
		t.Errorf("the alarms are %v, %v", alarms, err)
	}

	for _, name := range []string{"cp-2", "cp-3"} {
		must(t, shared.Node(name).PowerOn())
	}
	whole(t, shared)
	after, err := probed(t.Context(), target)
	must(t, err)
	if len(after.Members) != 3 {
		t.Errorf("the members are %+v", after.Members)
	}
}

// recovered waits for an etcd of the node alone, which has the revision of the snapshot.
func recovered(t *testing.T, n *Node, before etcd.ProbeResult) {
	t.Helper()
	must(t, cluster.Until(t.Context(), "the recovered etcd", func(ctx context.Context) error {
		now, err := probed(ctx, n)
		if err != nil {
			return err
		}
		if len(now.Members) != 1 || now.Members[0].ID != now.MemberID || now.Members[0].Name != n.Name || now.Leader != now.MemberID || !now.Members[0].Started() {
			return fmt.Errorf("it is %+v", now)
		}
		// The ID is a new one only if another machine was the founder of before.
		if now.Revision != before.Revision {
			t.Fatalf("it is %+v, and before it was %+v", now, before)
		}
		return nil
	}))
}

// TestRestoreThatFails: what goes wrong at the node is an error where it can be, and is
// told by its service where the node has said that all is well.
func TestRestoreThatFails(t *testing.T) {
	c, err := New(t.Context(), Options{ControlPlanes: 1, Bundle: shared.Bundle()})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	n := c.Node("cp-1")
	must(t, n.PowerOn())
	r := restorer(t, n)
	ready(t, "a whole upload", func(ctx context.Context) error { return r.Recover(ctx, strings.NewReader("no snapshot")) })

	lift := n.Fault(CutStream("EtcdRecover", 1, nil))
	err = r.Recover(t.Context(), bytes.NewReader(make([]byte, 1<<20)))
	if !errors.Is(err, product.ErrFailed) || !(strings.Contains(err.Error(), "it took a part for the whole") || strings.Contains(err.Error(), "1048576 bytes are sent, and it has 65536")) {
		t.Errorf("an upload that the node took for whole too early: %v", err)
	}
	lift()
	ready(t, "a bootstrap that will fail", r.Bootstrap)
	must(t, cluster.Until(t.Context(), "the reason of the failure", func(ctx context.Context) error {
		s, err := r.EtcdService(ctx)
		if err == nil && (s.State != stateFailed || !strings.HasPrefix(s.Event, "error verifying snapshot: ")) {
			err = fmt.Errorf("it is %+v", s)
		}
		return err
	}))
	if _, err := probed(t.Context(), n); err == nil {
		t.Error("there is an etcd")
	}
}

// TestCutSnapshotByTheProduct: the client cannot tell, and the sum does.
func TestCutSnapshotByTheProduct(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-2")
	defer n.Fault(CutSnapshot(10_000))()
	stream, err := restorer(t, n).Snapshot(t.Context())
	must(t, err)
	content, err := io.ReadAll(stream)
	must(t, errors.Join(err, stream.Close()))
	if len(content) != 10_000 {
		t.Errorf("there are %d bytes", len(content))
	}
}

// TestSilentNodeAndTheProduct: a machine that goes silent in the middle of an upload ends
// it within its limit for one message.
func TestSilentNodeAndTheProduct(t *testing.T) {
	n := shared.Node("cp-3")
	b, err := product.LoadBundle(shared.Bundle())
	must(t, err)
	r, err := product.NewRestorer(b, product.Options{Address: n.Endpoint(), Timeouts: product.Timeouts{Stall: quick}})
	must(t, err)
	defer func() { must(t, r.Close()) }()
	_, err = r.Version(within(t, time.Minute))
	must(t, err)
	lift := n.Fault(Silent())
	defer lift()
	err = r.Recover(within(t, time.Minute), forever{})
	if !errors.Is(err, product.ErrUnreachable) || !strings.Contains(err.Error(), "silent for "+quick.String()) {
		t.Errorf("got %v", err)
	}
}

type forever struct{}

func (forever) Read(p []byte) (int, error) { return len(p), nil }
