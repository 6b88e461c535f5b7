package restoreplan

import (
	"slices"
	"strings"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/controlplane"
)

// Then is what is recorded beside a snapshot.
type Then struct {
	Time     time.Time
	Revision int64
	// Members are those of etcd at the snapshot.
	Members        []guard.Member
	Quorate        string
	Authorities    restoring.Authorities
	KeyFingerprint string
}

// Secrets is what the secrets bundle says of the cluster as it is now.
type Secrets struct {
	Authorities    restoring.Authorities
	KeyFingerprint string
}

// Now is the cluster's etcd as it is now. Alarms are by the names of its members.
type Now struct {
	Revision int64
	Alarms   []string
}

// facts is all that a plan is made of.
type facts struct {
	request  Request
	now      time.Time
	cluster  *v1alpha1.TalosCluster
	backup   *v1alpha1.TalosEtcdBackup
	snapshot v1alpha1.Snapshot
	listed   bool
	machines []v1alpha1.TalosMachine
	// own is the machine that the controller runs on, nil if it runs elsewhere.
	own        *v1alpha1.TalosMachine
	revision   int64 // of etcd now; 0 if not known
	unfinished []restoring.Unfinished
	then       *Then
	secrets    Secrets
	alarms     []string
	marker     *restoring.OtherMarker
	// returned is the backup in the snapshot, nil if nobody could look; missingCRDs are the
	// definitions that the snapshot lacks.
	returned    *restoring.Returned
	missingCRDs []string
	differences *Differences
	unknown     []string
}

// plan decides all that a plan says.
func (f *facts) plan() *Plan {
	p := &Plan{
		Namespace: f.cluster.Namespace, Cluster: f.cluster.Name, Backup: f.backup.Name, Snapshot: f.snapshot.Name,
		SnapshotTime: f.snapshot.Time.UTC(), SnapshotRevision: f.snapshot.Revision,
		Steps: f.steps(), Lost: f.lost(), ControlPlanes: f.controlPlanes(), Target: f.target(), ControllerOn: f.ownPlane(), Nodes: f.nodes(),
		Objects: f.differences, Alarms: f.alarms, Unknown: f.unknown, Blocked: restoring.Blocked(f.prospect()),
		ConfirmName: f.cluster.Name, OverrideRequired: true, RecoverCommand: f.recovery().Command(),
	}
	p.Warnings = f.warnings(p)
	return p
}

func (f *facts) prospect() restoring.Prospect {
	p := restoring.Prospect{
		Cluster: f.cluster.Name, Backup: f.backup.Name, Snapshot: f.snapshot.Name, BackupOf: f.backup.Spec.ClusterRef.Name, Listed: f.listed,
		Namespace: f.backup.Namespace, Store: SettingsOf(f.backup), Returned: f.returned, MissingCRDs: f.missingCRDs,
		Now: f.secrets.Authorities, KeyNow: f.secrets.KeyFingerprint, Quorate: f.request.Quorate,
		ControlPlanes: f.controlPlanes(), Own: f.ownPlane(), Unfinished: f.unfinished, Marker: f.marker, Recovery: f.recovery(),
	}
	if t := f.then; t != nil {
		p.Then, p.KeyThen, p.TakenBy = t.Authorities, t.KeyFingerprint, t.Quorate
	}
	return p
}

func (f *facts) recovery() restoring.Recovery {
	return RecoveryOf(f.backup, f.snapshot.Name, f.machines)
}

// RecoveryOf is the command that finishes a restore without Kubernetes.
func RecoveryOf(b *v1alpha1.TalosEtcdBackup, snapshot string, machines []v1alpha1.TalosMachine) restoring.Recovery {
	s := b.Spec.ObjectStore
	r := restoring.Recovery{Store: strings.TrimSuffix("s3://"+s.Bucket+"/"+s.Prefix, "/"), Endpoint: s.Endpoint, Region: s.Region, Snapshot: snapshot}
	for i := range machines {
		if m := &machines[i]; controlplane.Approved(m) {
			r.Nodes = append(r.Nodes, controlplane.Address(m))
		}
	}
	return r
}

func (f *facts) lost() Lost {
	l := Lost{Since: f.snapshot.Time.UTC(), Seconds: max(0, int64(f.now.Sub(f.snapshot.Time.Time).Seconds()))}
	if f.snapshot.Revision > 0 && f.revision >= f.snapshot.Revision {
		l.Revisions = f.revision - f.snapshot.Revision
	}
	return l
}

// named are the machines that pass, by name.
func (f *facts) named(pass func(m *v1alpha1.TalosMachine) bool) []string {
	names := []string{}
	for i := range f.machines {
		if pass(&f.machines[i]) {
			names = append(names, f.machines[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

func (f *facts) controlPlanes() []string { return f.named(controlplane.Approved) }

func (f *facts) approved() []string {
	return f.named(func(m *v1alpha1.TalosMachine) bool { return m.Spec.Approved })
}

func (f *facts) workers() []string {
	return f.named(func(m *v1alpha1.TalosMachine) bool { return m.Spec.Approved && !controlplane.Approved(m) })
}

// ownPlane is the approved control plane that the controller runs on.
func (f *facts) ownPlane() string {
	if f.own == nil || !controlplane.Approved(f.own) {
		return ""
	}
	return f.own.Name
}

// target is the first by name other than the controller's own.
func (f *facts) target() string {
	planes := f.controlPlanes()
	for _, p := range planes {
		if p != f.ownPlane() {
			return p
		}
	}
	return strings.Join(planes, "") // the only one, or none
}

// nodes tells the control planes of now from the members of then. A member that is no
// machine's was removed since; a machine without a member was added.
func (f *facts) nodes() Nodes {
	n := Nodes{Now: f.controlPlanes()}
	if f.then == nil || len(f.then.Members) == 0 {
		return n
	}
	machines := map[string]guard.Machine{}
	for i := range f.machines {
		if m := &f.machines[i]; controlplane.Approved(m) {
			machines[m.Name] = controlplane.Describe(m)
		}
	}
	kept := map[uint64]bool{}
	for _, name := range n.Now {
		var others []guard.Machine
		for other, m := range machines {
			if other != name {
				others = append(others, m)
			}
		}
		found := guard.MembersOf(f.then.Members, machines[name], others)
		for _, m := range found {
			kept[m.ID] = true
		}
		if len(found) == 0 {
			n.Added = append(n.Added, name)
		}
	}
	for _, m := range f.then.Members {
		n.Then = append(n.Then, m.Name)
		if !kept[m.ID] {
			n.Removed = append(n.Removed, m.Name)
		}
	}
	slices.Sort(n.Then)
	slices.Sort(n.Removed)
	return n
}
