package recovercluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
)

// A restore that waits for a control plane goes on without it, and the plan says what to do
// with that one.
//
// covers: C-41
func TestGoesOnWithout(t *testing.T) {
	r, n := world(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	plan, err := r.Prepare(ctx)
	must(t, err)
	must(t, r.begin(ctx, plan, "the controller that died"))
	again := *r
	again.Snapshot, again.Endpoints, again.Without = "", nil, []string{"192.0.2.11"}
	plan, err = again.Prepare(ctx)
	must(t, err)
	var text strings.Builder
	must(t, plan.WriteText(&text))
	for _, want := range []string{
		"  2. Do without node-192.0.2.11 (192.0.2.11) from here on: nothing is asked of it any more\n",
		"  3. Go on at Wiping, on node-192.0.2.12 (192.0.2.12), node-192.0.2.13 (192.0.2.13); etcd is recovered on node-192.0.2.12\n",
		"\nLeft out\n  - node-192.0.2.11 (192.0.2.11) is left out: it must be off, and stay off until it is wiped.",
		"talosctl -n 192.0.2.11 reset --graceful=false --reboot --system-labels-to-wipe EPHEMERAL,ETCD;",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the plan does not say %q:\n%s", want, text.String())
		}
	}
	n.mute["192.0.2.11"] = true
	result, err := again.Run(ctx, plan)
	if err != nil || result.Outcome != restore.Done || result.Marker.Target != "node-192.0.2.12" || len(result.Marker.LeftOut) != 1 {
		t.Fatalf("%v, %+v", err, result)
	}
	if count(n.asked, "reset 192.0.2.11") != 0 || count(n.asked, "bootstrap 192.0.2.12") != 1 {
		t.Errorf("it asked for %v", n.asked)
	}
	again.Without = []string{"cp-x"}
	if _, err := again.Prepare(ctx); !errors.Is(err, ErrBlocked) || !errors.Is(err, restoring.ErrLeaveOut) {
		t.Errorf("got %v", err)
	}
}
