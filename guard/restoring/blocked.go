package restoring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Reason names what stands in the way of a restore, for programs.
type Reason string

// The reasons, in the order in which they are told.
const (
	BlockedConfirm          Reason = "ConfirmDiffers"
	BlockedOtherCluster     Reason = "BackupOfAnotherCluster"
	BlockedNotListed        Reason = "SnapshotNotListed"
	BlockedAuthority        Reason = "AuthorityChanged"
	BlockedKey              Reason = "KeyChanged"
	BlockedNewer            Reason = "SnapshotOfANewerQuorate"
	BlockedCRDs             Reason = "SnapshotWithoutCRDs"
	BlockedBackupAbsent     Reason = "SnapshotWithoutBackup"
	BlockedOtherStore       Reason = "BackupInAnotherStore"
	BlockedNoCredentials    Reason = "SnapshotWithoutCredentials"
	BlockedNoControlPlane   Reason = "NoControlPlane"
	BlockedOnlyControlPlane Reason = "ControllerOnTheOnlyControlPlane"
	BlockedSilent           Reason = "ControlPlaneSilent"
	BlockedOperation        Reason = "OperationUnfinished"
	BlockedMarker           Reason = "MarkerOfAnotherRestore"
	BlockedUnconditional    Reason = "StoreIgnoresConditions"
	BlockedStoreInCluster   Reason = "StoreInThisCluster"
)

// Block is one thing that stands in the way of a restore.
type Block struct {
	Reason Reason `json:"reason"`
	// Message says what was seen and the way out.
	Message string `json:"message"`
}

// Authorities are the SHA-256 fingerprints of a cluster's certificate authorities,
// "sha256:" and hexadecimal; one that is not known is empty.
type Authorities struct{ Etcd, Kubernetes, OS string }

// Unfinished is an operation of the cluster that has not completed.
type Unfinished struct {
	Name  string
	Phase v1alpha1.OperationPhase
}

// OtherMarker is the marker of a restore that another operation has begun.
type OtherMarker struct {
	Operation, Snapshot string
	Step                v1alpha1.RestoreStep
}

// Silent is a control plane that could not be asked, or whose data could not be read.
type Silent struct{ Machine, Why string }

// Prospect is a restore before anything is done. What is not known is left empty and
// stands in nobody's way.
type Prospect struct {
	Cluster, Backup, Snapshot string
	// Confirm is what the requester typed; nil before they did.
	Confirm *string
	// Namespace is the backup's, BackupOf the cluster that it names, Store where it points to.
	Namespace, BackupOf string
	Store               StoreSettings
	// Listed tells whether the snapshot is among the whole ones of the backup.
	Listed bool
	// Now are the authorities and the key of the cluster as it is, Then those that are
	// recorded beside the snapshot.
	Now, Then       Authorities
	KeyNow, KeyThen string
	// Quorate is the version of this program, TakenBy of the one that took the snapshot.
	Quorate, TakenBy string
	// MissingCRDs are those that this version needs and the snapshot lacks.
	MissingCRDs []string
	// Returned is the backup in the snapshot; nil while nobody has looked.
	Returned *Returned
	// ControlPlanes are the approved ones' TalosMachines; Own is the one that the
	// controller runs on, empty if it runs on none of them.
	ControlPlanes []string
	Own           string
	Silent        []Silent
	// Unfinished are other operations of the cluster, Marker is another one's.
	Unfinished []Unfinished
	Marker     *OtherMarker
	// Unconditional: the store ignores conditional writes; AllowUnconditional: a person
	// lets that pass.
	Unconditional, AllowUnconditional bool
	// StoreAt is where in this very cluster the store seems to run.
	StoreAt string
	// Recovery finishes a restore without Kubernetes.
	Recovery Recovery
}

// Blocked says what stands in the way, all of it, in a fixed order; nothing if the
// restore can begin.
func Blocked(p Prospect) []Block {
	var out []Block
	for _, check := range []func() []Block{
		p.confirm, p.source, p.authorities, p.program, p.returned, p.planes, p.silent, p.others, p.objectStore,
	} {
		out = append(out, check()...)
	}
	return out
}

func blockIf(wrong bool, r Reason, format string, args ...any) []Block {
	if !wrong {
		return nil
	}
	return []Block{{r, fmt.Sprintf(format, args...)}}
}

func (p Prospect) confirm() []Block {
	if p.Confirm == nil {
		return nil
	}
	return blockIf(*p.Confirm != p.Cluster, BlockedConfirm,
		"The name given is %q, and the cluster that would be rewound is %s. Give %s if that is the one you mean.", *p.Confirm, p.Cluster, p.Cluster)
}

func (p Prospect) source() []Block {
	out := blockIf(p.BackupOf != p.Cluster, BlockedOtherCluster,
		"Backup %s is of cluster %s, and %s would be restored. Name a backup whose spec.clusterRef is %s.", p.Backup, p.BackupOf, p.Cluster, p.Cluster)
	return append(out, blockIf(!p.Listed, BlockedNotListed,
		"Backup %s has no whole snapshot %s. Take one of those that quorate backup list shows.", p.Backup, p.Snapshot)...)
}

func (p Prospect) authorities() (out []Block) {
	for _, a := range []struct{ name, now, then string }{
		{"etcd", p.Now.Etcd, p.Then.Etcd}, {"Kubernetes", p.Now.Kubernetes, p.Then.Kubernetes}, {"Talos", p.Now.OS, p.Then.OS},
	} {
		out = append(out, blockIf(a.now != "" && a.then != "" && a.now != a.then, BlockedAuthority,
			"The %s CA is %s now and was %s at the snapshot: what is restored would not match the nodes' certificates. Take a snapshot from after the change of the CA.", a.name, a.now, a.then)...)
	}
	return append(out, blockIf(p.KeyNow != "" && p.KeyThen != "" && p.KeyNow != p.KeyThen, BlockedKey,
		"The snapshot is encrypted to the key %s, and the secrets bundle of the cluster gives %s: nobody could decrypt it. Take a snapshot from after the change of the bundle.", p.KeyThen, p.KeyNow)...)
}

// program refuses what this version could not go on with after the rewind.
func (p Prospect) program() []Block {
	out := blockIf(newerRelease(p.TakenBy, p.Quorate), BlockedNewer,
		"The snapshot was taken by Quorate %s, and this is %s: its objects may say what this version does not understand. Upgrade Quorate first.", p.TakenBy, p.Quorate)
	return append(out, blockIf(len(p.MissingCRDs) > 0, BlockedCRDs,
		"The snapshot has not the CRDs of this version: %s. The controller could not start after the rewind. Take a later snapshot, or install the Quorate of then first.", strings.Join(p.MissingCRDs, ", "))...)
}

// newerRelease compares releases; what is none, such as a build of a working tree, is not newer.
func newerRelease(then, now string) bool {
	a, err := version.ParseSemantic(then)
	if err != nil {
		return false
	}
	b, err := version.ParseSemantic(now)
	return err == nil && b.LessThan(a)
}

func (p Prospect) planes() []Block {
	out := blockIf(len(p.ControlPlanes) == 0, BlockedNoControlPlane,
		"No TalosMachine of cluster %s is an approved control plane: there is nothing to restore on. Approve the cluster's control planes (spec.approved) first.", p.Cluster)
	only := len(p.ControlPlanes) == 1 && p.Own != "" && slices.Contains(p.ControlPlanes, p.Own)
	return append(out, blockIf(only, BlockedOnlyControlPlane,
		"%s is the only control plane, and the controller runs on it: its wipe would end the controller before etcd is recovered. Restore from another machine: %s", p.Own, p.Recovery.Command())...)
}

func (p Prospect) silent() (out []Block) {
	for _, s := range p.Silent {
		out = append(out, blockIf(true, BlockedSilent,
			"Control plane %s cannot be restored as it is: %s. Heal it, or take it out of the cluster first.", s.Machine, s.Why)...)
	}
	return out
}

func (p Prospect) others() (out []Block) {
	for _, o := range p.Unfinished {
		out = append(out, blockIf(true, BlockedOperation,
			"Operation %s of cluster %s is unfinished (%s). Wait until its phase is Completed, or delete it if it must not run.", o.Name, p.Cluster, cmp.Or(o.Phase, v1alpha1.PhasePending))...)
	}
	if m := p.Marker; m != nil {
		finish := p.Recovery
		finish.Snapshot = m.Snapshot // beside its marker, no other one is taken
		out = append(out, blockIf(true, BlockedMarker,
			"The store of backup %s has the marker of another restore: operation %s, at %s. Let that one end, or finish it: %s", p.Backup, m.Operation, m.Step, finish.Command())...)
	}
	return out
}

func (p Prospect) objectStore() []Block {
	out := blockIf(p.Unconditional && !p.AllowUnconditional, BlockedUnconditional,
		"The store of backup %s ignores conditional writes, so that it cannot keep two restores apart. Use a store that honours them, or set allowUnconditionalStore and be sure that no other restore runs.", p.Backup)
	return append(out, blockIf(p.StoreAt != "", BlockedStoreInCluster,
		"The store of backup %s seems to run in this cluster (%s), and would be away just when it is needed. Copy its snapshots to a place outside and restore from there: %s", p.Backup, p.StoreAt, p.Recovery.Command())...)
}
