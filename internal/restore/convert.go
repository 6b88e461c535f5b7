package restore

import "github.com/quorate/quorate/guard/restoring"

// state is what the marker has for package restoring.
func (m *Marker) state() restoring.State {
	return restoring.State{
		Step: m.Step, Since: m.LimitsFrom, Nodes: m.Nodes, Target: m.Target, Own: m.Own, Floor: m.Pinned.Floor,
		OwnWipeAt: m.OwnWipeAt, OwnDone: m.OwnDone,
		RecoverSince: m.RecoverSince, BootstrapAt: m.BootstrapAt, BootstrapBoot: m.BootstrapBoot, BootstrapOK: m.BootstrapOK, UploadBoot: m.UploadBoot,
		RejoinSince: m.RejoinSince, AgentsSince: m.AgentsSince, TargetWipes: m.TargetWipes, ExtraWipes: m.ExtraWipes,
		AgentWarning: m.AgentWarning, AlarmsAt: m.AlarmsAt, Alarms: m.Alarms, Done: m.JobDone, Failure: m.Failure,
	}
}

// adopt takes over what package restoring has decided.
func (m *Marker) adopt(s restoring.State) {
	m.Step, m.Nodes, m.Target, m.Own = s.Step, s.Nodes, s.Target, s.Own
	m.OwnWipeAt, m.OwnDone = s.OwnWipeAt, s.OwnDone
	m.RecoverSince, m.BootstrapAt, m.BootstrapBoot, m.BootstrapOK, m.UploadBoot = s.RecoverSince, s.BootstrapAt, s.BootstrapBoot, s.BootstrapOK, s.UploadBoot
	m.RejoinSince, m.AgentsSince, m.TargetWipes, m.ExtraWipes = s.RejoinSince, s.AgentsSince, s.TargetWipes, s.ExtraWipes
	m.AgentWarning, m.AlarmsAt, m.Alarms, m.JobDone, m.Failure = s.AgentWarning, s.AlarmsAt, s.Alarms, s.Done, s.Failure
}
