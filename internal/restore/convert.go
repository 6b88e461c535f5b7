package restore

import (
	"time"

	"github.com/quorate/quorate/guard/restoring"
)

// state is what the marker has for package restoring.
func (m *Marker) state() restoring.State {
	return restoring.State{
		Step: m.Step, Since: m.LimitsFrom, Nodes: m.Nodes, LeftOut: m.LeftOut, LeftOutAt: m.LeftOutAt, Target: m.Target, Own: m.Own, Floor: m.Pinned.Floor,
		OwnWipeAt: m.OwnWipeAt, OwnDone: m.OwnDone,
		RecoverSince: m.RecoverSince, BootstrapAt: m.BootstrapAt, BootstrapBoot: m.BootstrapBoot, BootstrapOK: m.BootstrapOK, UploadBoot: m.UploadBoot,
		RejoinSince: m.RejoinSince, AgentsSince: m.AgentsSince, TargetWipes: m.TargetWipes, ExtraWipes: m.ExtraWipes,
		AgentWarning: m.AgentWarning, AlarmsAt: m.AlarmsAt, Alarms: m.Alarms, Done: m.JobDone, Failure: m.Failure,
	}
}

// adopt takes over what package restoring has decided.
func (m *Marker) adopt(s restoring.State) {
	m.Step, m.Nodes, m.Target, m.Own = s.Step, s.Nodes, s.Target, s.Own
	m.LeftOut, m.LeftOutAt = s.LeftOut, s.LeftOutAt
	m.OwnWipeAt, m.OwnDone = s.OwnWipeAt, s.OwnDone
	m.RecoverSince, m.BootstrapAt, m.BootstrapBoot, m.BootstrapOK, m.UploadBoot = s.RecoverSince, s.BootstrapAt, s.BootstrapBoot, s.BootstrapOK, s.UploadBoot
	m.RejoinSince, m.AgentsSince, m.TargetWipes, m.ExtraWipes = s.RejoinSince, s.AgentsSince, s.TargetWipes, s.ExtraWipes
	m.AgentWarning, m.AlarmsAt, m.Alarms, m.JobDone, m.Failure = s.AgentWarning, s.AlarmsAt, s.Alarms, s.Done, s.Failure
}

// LeaveOut has the restore do without machines from here on; restoring.ErrLeaveOut if it
// cannot, and then the marker is as it was.
func (m *Marker) LeaveOut(names []string, now time.Time) error {
	s, err := m.state().LeaveOut(names, now)
	if err == nil {
		m.adopt(s)
	}
	return err
}

// LeftOutText says of each machine that was left out what a person has to do with it.
func (m *Marker) LeftOutText() []string {
	target := m.Node(m.Target)
	if target == nil {
		return nil
	}
	return restoring.LeftOutText(m.LeftOut, target.Address)
}
