package restoring

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

// possibleProspect is a restore that nothing stands in the way of.
func possibleProspect() Prospect {
	all := Authorities{Etcd: "sha256:e1", Kubernetes: "sha256:k1", OS: "sha256:o1"}
	return Prospect{
		Cluster: "prod", Backup: "nightly", Snapshot: "etcd-20300102T150405Z.snapshot.age", BackupOf: "prod", Listed: true,
		Now: all, Then: all, KeyNow: "sha256:a1", KeyThen: "sha256:a1", Quorate: "v1.4.0", TakenBy: "v1.3.9",
		ControlPlanes: []string{"cp-a", "cp-b", "cp-c"}, Own: "cp-b",
		Recovery: Recovery{Store: "s3://backups/prod", Snapshot: "etcd-20300102T150405Z.snapshot.age", Nodes: []string{"192.0.2.11"}},
	}
}

const recoverCommand = "quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3://backups/prod --snapshot etcd-20300102T150405Z.snapshot.age --node-endpoint 192.0.2.11"

func TestBlocked(t *testing.T) {
	wrong := "test"
	for _, tt := range []struct {
		name   string
		change func(*Prospect)
		want   string
	}{
		{"nothing", func(*Prospect) {}, ""},
		{"the name typed", func(p *Prospect) { p.Confirm = &p.Cluster }, ""},
		{"another name typed", func(p *Prospect) { p.Confirm = &wrong },
			`ConfirmDiffers: The name given is "test", and the cluster that would be rewound is prod. Give prod if that is the one you mean.`},
		{"another cluster's backup", func(p *Prospect) { p.BackupOf = "test" },
			"BackupOfAnotherCluster: Backup nightly is of cluster test, and prod would be restored. Name a backup whose spec.clusterRef is prod."},
		{"not listed", func(p *Prospect) { p.Listed = false },
			"SnapshotNotListed: Backup nightly has no whole snapshot etcd-20300102T150405Z.snapshot.age. Take one of those that quorate backup list shows."},
		{"etcd's CA changed", func(p *Prospect) { p.Then.Etcd = "sha256:e0" },
			"AuthorityChanged: The etcd CA is sha256:e1 now and was sha256:e0 at the snapshot: what is restored would not match the nodes' certificates. Take a snapshot from after the change of the CA."},
		{"all CAs changed", func(p *Prospect) { p.Then = Authorities{"sha256:e0", "sha256:k0", "sha256:o0"} },
			"AuthorityChanged: The etcd CA is sha256:e1 now and was sha256:e0 at the snapshot: what is restored would not match the nodes' certificates. Take a snapshot from after the change of the CA.\n" +
				"AuthorityChanged: The Kubernetes CA is sha256:k1 now and was sha256:k0 at the snapshot: what is restored would not match the nodes' certificates. Take a snapshot from after the change of the CA.\n" +
				"AuthorityChanged: The Talos CA is sha256:o1 now and was sha256:o0 at the snapshot: what is restored would not match the nodes' certificates. Take a snapshot from after the change of the CA."},
		{"authorities not known now", func(p *Prospect) { p.Now, p.KeyNow = Authorities{}, "" }, ""},
		{"authorities not recorded then", func(p *Prospect) { p.Then, p.KeyThen = Authorities{}, "" }, ""},
		{"key changed", func(p *Prospect) { p.KeyThen = "sha256:a0" },
			"KeyChanged: The snapshot is encrypted to the key sha256:a0, and the secrets bundle of the cluster gives sha256:a1: nobody could decrypt it. Take a snapshot from after the change of the bundle."},
		{"a newer Quorate", func(p *Prospect) { p.TakenBy = "v1.10.0" },
			"SnapshotOfANewerQuorate: The snapshot was taken by Quorate v1.10.0, and this is v1.4.0: its objects may say what this version does not understand. Upgrade Quorate first."},
		{"a build of a working tree", func(p *Prospect) { p.Quorate = "12737e7-dirty" }, ""},
		{"taken by a build of a working tree", func(p *Prospect) { p.TakenBy = "unknown" }, ""},
		{"without CRDs", func(p *Prospect) {
			p.MissingCRDs = []string{"talosoperations.quorate.dev", "talosmachines.quorate.dev"}
		},
			"SnapshotWithoutCRDs: The snapshot has not the CRDs of this version: talosoperations.quorate.dev, talosmachines.quorate.dev. The controller could not start after the rewind. Take a later snapshot, or install the Quorate of then first."},
		{"no control plane", func(p *Prospect) { p.ControlPlanes, p.Own = nil, "" },
			"NoControlPlane: No TalosMachine of cluster prod is an approved control plane: there is nothing to restore on. Approve the cluster's control planes (spec.approved) first."},
		{"the controller on the only one", func(p *Prospect) { p.ControlPlanes = []string{"cp-b"} },
			"ControllerOnTheOnlyControlPlane: cp-b is the only control plane, and the controller runs on it: its wipe would end the controller before etcd is recovered. Restore from another machine: " + recoverCommand},
		{"the only one, the controller elsewhere", func(p *Prospect) { p.ControlPlanes, p.Own = []string{"cp-b"}, "" }, ""},
		{"the only one, the controller on a worker", func(p *Prospect) { p.ControlPlanes, p.Own = []string{"cp-b"}, "worker-1" }, ""},
		{"silent", func(p *Prospect) { p.Silent = []Silent{{"cp-c", "the machine API does not answer"}} },
			"ControlPlaneSilent: Control plane cp-c cannot be restored as it is: the machine API does not answer. Heal it, or take it out of the cluster first."},
		{"other operations", func(p *Prospect) { p.Unfinished = []Unfinished{{"first", v1alpha1.PhaseHeld}, {"second", ""}} },
			"OperationUnfinished: Operation first of cluster prod is unfinished (Held). Wait until its phase is Completed, or delete it if it must not run.\n" +
				"OperationUnfinished: Operation second of cluster prod is unfinished (Pending). Wait until its phase is Completed, or delete it if it must not run."},
		{"another marker", func(p *Prospect) {
			p.Marker = &OtherMarker{"first", "etcd-20291224T000000Z.snapshot.age", v1alpha1.StepWiping}
		},
			"MarkerOfAnotherRestore: The store of backup nightly has the marker of another restore: operation first, at Wiping. Let that one end, or finish it: " + strings.Replace(recoverCommand, "etcd-20300102T150405Z", "etcd-20291224T000000Z", 1)},
		{"no conditional writes", func(p *Prospect) { p.Unconditional = true },
			"StoreIgnoresConditions: The store of backup nightly ignores conditional writes, so that it cannot keep two restores apart. Use a store that honours them, or set allowUnconditionalStore and be sure that no other restore runs."},
		{"no conditional writes, allowed", func(p *Prospect) { p.Unconditional, p.AllowUnconditional = true, true }, ""},
		{"store in the cluster", func(p *Prospect) { p.StoreAt = "Service storage/minio" },
			"StoreInThisCluster: The store of backup nightly seems to run in this cluster (Service storage/minio), and would be away just when it is needed. Copy its snapshots to a place outside and restore from there: " + recoverCommand},
		{"several at once, in order", func(p *Prospect) {
			p.Marker, p.Listed = &OtherMarker{"first", "etcd-20300102T150405Z.snapshot.age", v1alpha1.StepRejoining}, false
		},
			"SnapshotNotListed: Backup nightly has no whole snapshot etcd-20300102T150405Z.snapshot.age. Take one of those that quorate backup list shows.\n" +
				"MarkerOfAnotherRestore: The store of backup nightly has the marker of another restore: operation first, at Rejoining. Let that one end, or finish it: " + recoverCommand},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := possibleProspect()
			tt.change(&p)
			var got []string
			for _, b := range Blocked(p) {
				got = append(got, fmt.Sprintf("%s: %s", b.Reason, b.Message))
			}
			if text := strings.Join(got, "\n"); text != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

func TestRecoveryCommand(t *testing.T) {
	for _, tt := range []struct {
		r    Recovery
		want string
	}{
		{Recovery{}, "quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3://BUCKET/PREFIX --snapshot SNAPSHOT --node-endpoint ADDRESS"},
		{Recovery{Store: "/mnt/backups", Snapshot: "etcd-20300102T150405Z.snapshot.age", Nodes: []string{"192.0.2.11", "192.0.2.12:50001"}},
			"quorate restore --recover-cluster --bundle BUNDLE.yaml --store /mnt/backups --snapshot etcd-20300102T150405Z.snapshot.age --node-endpoint 192.0.2.11 --node-endpoint 192.0.2.12:50001"},
		{Recovery{Store: "s3://b", Endpoint: "https://s3.example.com", Region: "eu-1", Snapshot: "x", Nodes: []string{"192.0.2.11"}},
			"quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3://b --s3-endpoint https://s3.example.com --s3-region eu-1 --snapshot x --node-endpoint 192.0.2.11"},
	} {
		if got := tt.r.Command(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
