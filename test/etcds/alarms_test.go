package etcds

import (
	"context"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/quorate/quorate/api/v1alpha1"
)

// NOSPACE is no illness of raft: it holds up no removal.
//
//
func TestNoSpaceHoldsUpNoRemoval(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	m, _ := p.at(0)
	disarm := p.alarm(m.ID, etcdserverpb.AlarmType_NOSPACE)
	p.until("the alarm to be told", func(e *v1alpha1.Etcd) error { return readySays(e, "AlarmRaised", "main-0", "NOSPACE") })
	p.scale(1)
	p.until("one member to be left", func(e *v1alpha1.Etcd) error {
		if len(p.names()) != 1 || e.Status.ScaleOperation != nil {
			return errNotYet
		}
		return nil
	})
	p.want(1)
	disarm()
	p.settled(1)
	p.kept()
}

// A corrupt member among the surplus goes first, though it has the lower ordinal.
//
//
func TestCorruptSurplusGoesFirst(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 5)
	p.put("five")
	m, _ := p.at(3)
	disarm := p.alarm(m.ID, etcdserverpb.AlarmType_CORRUPT)
	p.scale(3)
	p.until("three members to be left", func(e *v1alpha1.Etcd) error {
		members, err := p.members(p.t.Context())
		if err == nil && (len(members) != 3 || e.Status.ScaleOperation != nil) {
			err = errNotYet
		}
		return err
	})
	p.until("the alarm to be told", func(e *v1alpha1.Etcd) error { return readySays(e, "AlarmRaised", "CORRUPT") })
	p.told(removed(p.pod(3)), removed(p.pod(4)))
	disarm()
	p.settled(3)
	p.want(3)
	p.kept()
}

func removed(member string) string {
	return "MemberRemoved: Member " + member + " is no member any more."
}

// alarm raises an alarm as a member of its own; disarm is what a person does.
func (p *plant) alarm(member uint64, kind etcdserverpb.AlarmType) (disarm func()) {
	p.t.Helper()
	ask := func(action etcdserverpb.AlarmRequest_AlarmAction) {
		ctx, cancel := context.WithTimeout(p.t.Context(), limit)
		defer cancel()
		connection := p.client(p.member(0)).ActiveConnection()
		_, err := etcdserverpb.NewMaintenanceClient(connection).Alarm(ctx, &etcdserverpb.AlarmRequest{Action: action, MemberID: member, Alarm: kind})
		must(p.t, err)
	}
	ask(etcdserverpb.AlarmRequest_ACTIVATE)
	return func() { ask(etcdserverpb.AlarmRequest_DEACTIVATE) }
}

// readySays wants the condition Ready to be False for a reason, with texts in it.
func readySays(e *v1alpha1.Etcd, reason string, texts ...string) error {
	c := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionReady)
	if c.Reason != reason {
		return errNotYet
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			return errNotYet
		}
	}
	return nil
}
