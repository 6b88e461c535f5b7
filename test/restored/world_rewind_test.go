package restored

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// TestRewind: etcd is wiped on all control planes and recovered from a snapshot by hand.
// The API comes back with what was there then, users' objects and our own, and the
// manager, which was not wiped, reaches it again and acts. Nobody has told it that the
// etcd is meant to be another one, and so the world is never Ready again: the test is in
// the last file of the package.
func TestRewind(t *testing.T) {
	ctx := within(t)
	resets := len(shared.Calls("Reset"))
	must(t, shared.Write(ctx, "kept", "before"))
	must(t, shared.Write(ctx, "gone", "before"))
	content, err := shared.Snapshot(ctx, "cp-1")
	must(t, err)
	must(t, shared.Write(ctx, "kept", "after"))
	must(t, shared.Delete(ctx, "gone"))
	must(t, shared.Write(ctx, "later", "after"))
	must(t, shared.Wipe(ctx, shared.Talos.ControlPlanes()...))
	must(t, shared.Away(ctx))
	if !shared.ManagerRuns() {
		t.Error("the manager has ended with the API")
	}
	// An etcd that is founded by the same machine again has the ID of the time before.
	must(t, shared.Recover(ctx, "cp-3", content))
	must(t, shared.Back(ctx))
	has(t, "kept", "before")
	has(t, "gone", "before")
	has(t, "later", "")
	must(t, shared.ManagerReady(ctx))
	must(t, shared.Reconciles(ctx, "worker-1"))
	seesAnother(t, etcdID(t))
	if got := len(shared.Calls("Reset")) - resets; got != 3 {
		t.Errorf("there were %d resets", got)
	}
}

// etcdID is the ID of the etcd cluster that there is now.
func etcdID(t *testing.T) string {
	t.Helper()
	c, err := shared.Talos.Node("cp-1").Etcd(within(t))
	must(t, err)
	defer c.Close()
	list, err := c.MemberList(within(t))
	must(t, err)
	return strconv.FormatUint(list.Header.ClusterId, 16)
}

// seesAnother waits until the controller has met the recovered etcd: it has an ID that the
// TalosCluster of the snapshot does not know.
func seesAnother(t *testing.T, id string) {
	t.Helper()
	must(t, cluster.Until(within(t), "the controller to meet the recovered etcd", func(ctx context.Context) error {
		c := &v1alpha1.TalosCluster{}
		if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Cluster}, c); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonOtherCluster || !strings.Contains(ready.Message, id) {
			return fmt.Errorf("%w: %+v", errNotYet, ready)
		}
		return nil
	}))
}

// has wants an object to be there with this text, or not to be there if it is empty.
func has(t *testing.T, name, text string) {
	t.Helper()
	got, is, err := shared.Read(within(t), name)
	must(t, err)
	if got != text || is != (text != "") {
		t.Errorf("the object %s is there: %t, and says %q, want %q", name, is, got, text)
	}
}
