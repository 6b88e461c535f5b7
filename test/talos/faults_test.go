package talos

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errStillOn = errors.New("it is still on")

// not turns an error that is waited for into none.
func not(err error) error {
	if err == nil {
		return errStillOn
	}
	return nil
}

func version(t *testing.T, c *client.Client, deadline time.Duration) error {
	t.Helper()
	_, err := c.Version(within(t, deadline))
	return err
}

// answersAgain waits until a fault is over for a client that felt it.
func answersAgain(t *testing.T, c *client.Client) {
	t.Helper()
	until(t, "the node to answer again", func() bool { return version(t, c, 2*time.Second) == nil })
}

// TestFaultSilent: calls under way and new ones run into their deadline; nothing is
// refused. Afterwards the same client goes on.
func TestFaultSilent(t *testing.T) {
	n := shared.Node("worker-1")
	known, fresh := admin(t, n), admin(t, n)
	must(t, version(t, known, 10*time.Second))
	lift := n.Fault(Silent())
	code(t, version(t, known, quick), codes.DeadlineExceeded)
	code(t, version(t, fresh, quick), codes.DeadlineExceeded)
	lift()
	answersAgain(t, known)
	answersAgain(t, fresh)
}

// TestFaultUnreachable: refused at once, and back afterwards. etcd does not care.
func TestFaultUnreachable(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-2")
	c := admin(t, n)
	must(t, version(t, c, 10*time.Second))
	lift := n.Fault(Unreachable())
	code(t, version(t, c, 5*time.Second), codes.Unavailable)
	must(t, n.Voting(t.Context()))
	lift()
	answersAgain(t, c)
}

// TestFaultSlow: a call takes longer, and another one does not.
func TestFaultSlow(t *testing.T) {
	n := shared.Node("worker-1")
	c := admin(t, n)
	defer n.Fault(Slow("Version", time.Second))()
	code(t, version(t, c, quick), codes.DeadlineExceeded)
	began := time.Now()
	must(t, version(t, c, 20*time.Second))
	if took := time.Since(began); took < time.Second {
		t.Errorf("it took %s", took)
	}
	_, err := c.MachineClient.Hostname(within(t, 10*time.Second), nil)
	must(t, err)
}

// TestFaultAnswer: the named call answers the error until the fault is lifted.
func TestFaultAnswer(t *testing.T) {
	n := shared.Node("worker-1")
	lift := n.Fault(Answer("Version", status.Error(codes.Internal, "broken")))
	answers(t, version(t, admin(t, n), 10*time.Second), codes.Internal, "broken")
	_, err := admin(t, n).ServiceList(within(t, 10*time.Second))
	must(t, err)
	lift()
	must(t, version(t, admin(t, n), 10*time.Second))
}

// TestFaultAfterActing: the call has acted, whatever its client was told or was not.
func TestFaultAfterActing(t *testing.T) {
	whole(t, shared)
	for want, fault := range map[codes.Code]Fault{
		codes.Unavailable:      AnswerAfter("EtcdForfeitLeadership", status.Error(codes.Unavailable, "too late")),
		codes.DeadlineExceeded: Lose("EtcdForfeitLeadership"),
	} {
		was := leader(t, shared)
		lift := was.Fault(fault)
		_, err := admin(t, was).EtcdForfeitLeadership(within(t, 5*time.Second), &machine.EtcdForfeitLeadershipRequest{})
		lift()
		code(t, err, want)
		if now := leader(t, shared); now == was {
			t.Errorf("%s still leads", now.Name)
		}
	}
}

// TestFaultMeet: what happens at a call comes before it acts or after, and its error is the
// answer. A call that is answered before has not acted.
func TestFaultMeet(t *testing.T) {
	whole(t, shared)
	broken := status.Error(codes.Internal, "broken")
	was := leader(t, shared)
	var met []string
	meet := func(when string, err error) Meeting {
		return func(_ context.Context, call string) error { met = append(met, when+" "+call); return err }
	}
	forfeit := func() error {
		_, err := admin(t, was).EtcdForfeitLeadership(within(t, 10*time.Second), &machine.EtcdForfeitLeadershipRequest{})
		return err
	}
	lift := was.Fault(Meet("EtcdForfeitLeadership", meet("before", broken), meet("after", nil)))
	answers(t, forfeit(), codes.Internal, "broken")
	lift()
	if now := leader(t, shared); now != was {
		t.Errorf("%s leads, want %s still", now.Name, was.Name)
	}
	lift = was.Fault(Meet("", meet("before", nil), meet("after", broken)))
	answers(t, forfeit(), codes.Internal, "broken")
	lift()
	if now := leader(t, shared); now == was {
		t.Errorf("%s still leads", now.Name)
	}
	if got := strings.Join(met, ", "); got != "before EtcdForfeitLeadership, before EtcdForfeitLeadership, after EtcdForfeitLeadership" {
		t.Errorf("met were %s", got)
	}
}

// TestFaultCutStream: a stream ends cleanly after the messages that were let through.
func TestFaultCutStream(t *testing.T) {
	n := shared.Node("worker-1")
	defer n.Fault(CutStream("Events", 1, nil))()
	must(t, (func() error {
		b, err := n.current()
		must(t, err)
		return b.events.publish("", &machine.RestartEvent{})
	})())
	stream, err := admin(t, n).Events(within(t, 10*time.Second), client.WithTailEvents(-1))
	must(t, err)
	_, err = stream.Recv()
	must(t, err)
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ends with %v", err)
	}
}

// TestFaultRebootBefore: the power goes when the call comes.
func TestFaultRebootBefore(t *testing.T) {
	n := shared.Node("worker-1")
	before := n.BootID()
	n.Fault(RebootBefore("Version"))
	code(t, version(t, admin(t, n), 10*time.Second), codes.Unavailable)
	rebooted(t, n, before)
	must(t, version(t, admin(t, n), 10*time.Second))
}

// TestFaultRebootAfter: a call is answered, and the next one meets another boot.
func TestFaultRebootAfter(t *testing.T) {
	n := shared.Node("worker-1")
	before := n.BootID()
	n.Fault(RebootAfter("Version"))
	must(t, version(t, admin(t, n), 10*time.Second))
	rebooted(t, n, before)
	must(t, version(t, admin(t, n), 10*time.Second))
}

// TestPowerOff: nobody listens, and the machine comes back as it was.
func TestPowerOff(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-3")
	id, err := n.MemberID(t.Context())
	must(t, err)
	n.PowerOff()
	code(t, version(t, admin(t, n), 10*time.Second), codes.Unavailable)
	if got := names(listed(t, shared.Node("cp-1"))); got != "cp-1 cp-2 cp-3" {
		t.Errorf("the members are %s", got)
	}
	must(t, n.PowerOn())
	whole(t, shared)
	if after, err := n.MemberID(t.Context()); err != nil || after != id {
		t.Errorf("the member is %x, was %x: %v", after, id, err)
	}
}
