package machines

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// removal is one of a lane's.
type removal struct {
	*lane
	point point
	id    uint64 // the member
	uid   types.UID
	began time.Time
	pod   string // that it may have
}

// hinder keeps the call of a death in its middle there.
func (r *removal) hinder() (lift func()) {
	if r.point.middle == nil {
		return func() {}
	}
	return r.talos.Node(r.point.middle.node).Fault(r.point.middle.fault)
}

// begins deletes the machine, as often as the gate refuses: on a machine with much to
// do, an etcd that is well is slow to say so at times.
func (r *removal) begins() {
	r.t.Helper()
	r.until("the deletion to be admitted", func(context.Context) error { return r.tryDelete(goes) })
}

// diesOrGoes waits for the death of the process, or for the end of its work without.
func (r *removal) diesOrGoes() (died bool) {
	r.t.Helper()
	r.until("the process's death, or its end of work", func(ctx context.Context) error {
		if r.life.died() {
			return nil
		}
		if r.life.reached() {
			return r.strike(ctx)
		}
		if err := admin.Get(ctx, r.key(goes), &v1alpha1.TalosMachine{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%w: %v", errNotYet, err)
		}
		return nil
	})
	if r.life.reached() { // it may have ended its work by its last call
		r.until("the process's death", r.strike)
	}
	return r.life.died()
}

// strike kills the process in the middle of its call. Another death comes by itself.
func (r *removal) strike(ctx context.Context) error {
	if m := r.point.middle; m != nil && !r.life.died() {
		if err := m.there(ctx, r); err != nil {
			return err
		}
		r.life.die()
	}
	if !r.life.died() {
		return fmt.Errorf("%w: the call has not ended", errNotYet)
	}
	return nil
}

// sent are the calls of this removal that take a member out.
func (r *removal) sent(methods ...string) []talos.Call {
	return slices.DeleteFunc(r.calls(methods...), func(c talos.Call) bool { return c.Began.Before(r.began) })
}

// ended wants what every removal ends in.
func (r *removal) ended() {
	r.t.Helper()
	r.lists(stay...)
	for _, name := range stay {
		if id := r.member(name); id != r.voters[name] {
			r.t.Errorf("%s is member %x, and was %x", name, id, r.voters[name])
		}
		if m := r.machine(name); m.DeletionTimestamp != nil {
			r.t.Errorf("%s is being deleted", name)
		}
	}
	r.once()
	r.written()
	r.cordoned(goes)
}

// once wants no removal to have been sent of a member that was gone, or of another one,
// and none to the machines that stay but by the member's ID.
func (r *removal) once() {
	r.t.Helper()
	calls := r.sent(leave, remove)
	for i, c := range calls {
		// An etcd that does not tell at once has lost the member: all others were well.
		gone := c.Listing == talos.Gone || c.Listing == talos.Unknown && i > 0
		other := c.Method == leave && c.Node != goes || c.Method == remove && c.MemberID != r.id
		if gone || other {
			r.t.Errorf("a removal was sent that is none of member %x while it was listed:%s\nof%s", r.id, tell([]talos.Call{c}), tell(calls))
		}
	}
	if len(calls) == 0 {
		r.t.Error("nobody was asked to remove the member")
	}
}

// written wants the removal in the ledger, intended first, and the event about the keys.
func (r *removal) written() {
	r.t.Helper()
	r.until("the ledger's story", func(context.Context) error {
		lines := slices.DeleteFunc(r.story.ledger(r.talos.Node(goes).PeerURL()), func(l string) bool { return !strings.HasPrefix(l, fmt.Sprintf("%x ", r.id)) })
		if want := []string{fmt.Sprintf("%x intended", r.id), fmt.Sprintf("%x confirmed", r.id)}; !slices.Equal(lines, want) {
			return fmt.Errorf("%w: it is %v, want %v", errNotYet, lines, want)
		}
		return nil
	})
	e := &eventsv1.Event{}
	must(r.t, admin.Get(r.t.Context(), r.key("credentials-of-"+string(r.uid)), e))
	if e.Reason != v1alpha1.EventNodeStillHasClusterCredentials || e.Type != "Warning" || !strings.Contains(e.Note, "removed from etcd") {
		r.t.Errorf("it was told: %s %s: %s", e.Type, e.Reason, e.Note)
	}
}
