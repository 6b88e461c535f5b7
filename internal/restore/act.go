package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/talos"
)

var (
	// errRebooted: the node is not in the boot any more that was decided about.
	errRebooted = errors.New("it has rebooted since it was looked at")
	// errSkipped: nothing was asked.
	errSkipped = errors.New("not asked")
)

// carryOut asks for the acts, all at once. What was not asked is taken back.
func (r *run) carryOut(ctx context.Context, before restoring.State, d restoring.Decision) error {
	r.pause = r.usual()
	if d.State.Step != before.Step {
		r.pause = 0 // nothing is waited for
	}
	if len(d.Acts) == 0 {
		return nil
	}
	results := make([]error, len(d.Acts))
	for i, a := range d.Acts {
		if a.Kind.Destroys() {
			results[i] = r.check(ctx)
		}
		if a.Kind == restoring.ActLeave && results[i] == nil {
			results[i] = r.lasts(ctx, talos.LeaveNeeds+leaveSlack)
		}
	}
	together(len(d.Acts), func(i int) {
		if results[i] != nil {
			results[i] = fmt.Errorf("%w: %w", errSkipped, results[i])
			return
		}
		results[i] = r.act(ctx, d.Acts[i], r.nodeOf(d.Acts[i]))
	})
	var trouble []string
	for i, a := range d.Acts {
		if text := r.came(before, a, results[i]); text != "" {
			trouble = append(trouble, text)
		}
	}
	if slices.ContainsFunc(results, slows) {
		r.slower()
	}
	if len(trouble) > 0 {
		r.tell(strings.Join(append([]string{d.Note}, trouble...), "; "))
	}
	if err := errors.Join(results...); errors.Is(err, errLost) {
		return err
	}
	return r.save(ctx, r.marker.Failure != "" || !r.held() || r.Clock.Now().Before(r.yielded))
}

// slows tells whether an act is not to be tried again at once: a node that is not ready
// yet will be within seconds, and no API answers meanwhile.
func slows(err error) bool { return err != nil && !errors.Is(err, talos.ErrNotReady) }

func (r *run) nodeOf(a restoring.Act) Node { return *r.marker.Node(a.Node) }

// act asks one node for one thing, with a line in the journal before and after.
func (r *run) act(ctx context.Context, a restoring.Act, n Node) error {
	client, err := r.Nodes.Node(n.Address)
	if err != nil {
		return fmt.Errorf("%w: %w", errSkipped, err)
	}
	boot, err := r.sameBoot(ctx, client, n, a)
	if err != nil {
		return fmt.Errorf("%w: %w", errSkipped, err)
	}
	r.journal(a, Asking, nil)
	if r.Store != nil && a.Kind != restoring.ActUpload {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.marker.Owner.Expires)
		defer cancel()
	}
	if err = r.call(ctx, client, a, n); err != nil {
		r.journal(a, Refused, err)
		return err
	}
	r.journal(a, Answered, nil)
	if a.Kind == restoring.ActUpload {
		r.marker.UploadBoot = boot
	}
	return nil
}

// sameBoot reads the boot ID once more, right before the act.
func (r *run) sameBoot(ctx context.Context, client NodeClient, n Node, a restoring.Act) (string, error) {
	if !a.Kind.Destroys() {
		return "", nil
	}
	is, err := client.BootID(ctx)
	switch {
	case err != nil:
		return "", err
	case a.Kind == restoring.ActUpload:
	case a.Kind == restoring.ActBootstrap && is != r.marker.BootstrapBoot, a.Kind != restoring.ActBootstrap && is != n.BootID:
		return "", errRebooted
	}
	return is, nil
}

func (r *run) call(ctx context.Context, client NodeClient, a restoring.Act, n Node) error {
	switch a.Kind {
	case restoring.ActLeave:
		// It fails where the member is the only one, or does not lead and nobody does; what
		// counts is that it leaves.
		if err := client.ForfeitLeadership(ctx); err != nil {
			r.Log.Info("the own node keeps the leadership", "why", err.Error())
		}
		return client.Leave(ctx)
	case restoring.ActReset:
		return client.Reset(ctx, n.Volumes)
	case restoring.ActUpload:
		return r.upload(ctx, client)
	case restoring.ActBootstrap:
		return client.Bootstrap(ctx)
	case restoring.ActKubelet:
		return client.RestartKubelet(ctx)
	}
	return r.alarms(ctx, client)
}

// alarms are a note for people: nothing of the restore depends on them.
func (r *run) alarms(ctx context.Context, client NodeClient) error {
	alarms, err := client.Alarms(ctx)
	now := r.Clock.Now()
	r.marker.AlarmsAt = &now
	slices.Sort(alarms)
	switch alarms = slices.Compact(alarms); {
	case err != nil:
		r.marker.Alarms = "The alarms of etcd could not be read after the recovery: " + err.Error()
	case len(alarms) > 0:
		r.marker.Alarms = "The alarms of the snapshot are back: " + strings.Join(alarms, ", ") + ". See to their cause and disarm them."
	}
	return nil
}

func (r *run) journal(a restoring.Act, state string, err error) {
	if r.Desk == nil {
		return
	}
	e := Entry{At: r.Clock.Now(), Act: string(a.Kind), Node: a.Node, Why: a.Why, State: state}
	if err != nil {
		e.Error = err.Error()
	}
	if err := r.Desk.Write(e); err != nil {
		r.Log.Info("the journal of the restore misses a line", "act", a.Kind, "node", a.Node, "why", err.Error())
	}
}

// came keeps how an act was answered, and says what went wrong.
func (r *run) came(before restoring.State, a restoring.Act, err error) string {
	n, now := r.marker.Node(a.Node), r.Clock.Now()
	if errors.Is(err, errSkipped) {
		r.takeBack(before, a)
	}
	switch {
	case a.Kind == restoring.ActReset:
		n.Answered = err == nil
		if err == nil && a.Node == r.marker.Own && a.Node == r.Here && r.Store != nil {
			r.yield()
		}
	case a.Kind == restoring.ActUpload && err == nil:
		r.pause = 0 // nothing is waited for
	case a.Kind == restoring.ActBootstrap:
		r.bootstrapped(err)
	case a.Kind == restoring.ActKubelet && err == nil:
		n.AgentAt = &now
	}
	r.judge(a, err)
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s failed: %s", a.Kind, a.Node, err)
}

func (r *run) bootstrapped(err error) {
	switch {
	case err == nil, errors.Is(err, talos.ErrHasData):
		r.marker.BootstrapOK = true // whether it is recovered, etcd will tell
	case errors.Is(err, talos.ErrNotReady), errors.Is(err, errSkipped):
		r.marker.BootstrapAt = nil
	}
}

// takeBack has the state as if a wipe had not been decided.
func (r *run) takeBack(before restoring.State, a restoring.Act) {
	if a.Kind != restoring.ActReset {
		return
	}
	i := slices.IndexFunc(before.Nodes, func(n Node) bool { return n.Machine == a.Node })
	*r.marker.Node(a.Node) = before.Nodes[i]
	if a.Node == r.marker.Own {
		r.marker.OwnWipeAt = before.OwnWipeAt
	}
	if a.Extra {
		r.marker.ExtraWipes--
	}
}
