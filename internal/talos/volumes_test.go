package talos

import (
	"context"
	"slices"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/resources/block"
)

func volumesOf(r *Restorer) func(context.Context) (any, error) { return any1(r.Volumes) }

// havingVolumes is a machine with EPHEMERAL and these.
func havingVolumes(volumes ...*block.VolumeStatus) func(*server) {
	return func(s *server) { s.played.volumes = append(s.played.volumes[:1:1], volumes...) }
}

// covers: C-12
func TestVolumes(t *testing.T) {
	partition := func(id string) *block.VolumeStatus { return volumeOf(id, block.VolumeTypePartition, "/dev/vdb1") }
	b := loadBundle(t)
	for _, c := range []struct {
		name    string
		volumes []*block.VolumeStatus
		want    []string
	}{
		{"one disk", nil, []string{}},
		{"all promoted", []*block.VolumeStatus{partition("LOG"), partition("KUBELET"), partition("ETCD"), partition("CRI")}, []string{"CRI", "ETCD", "KUBELET", "LOG"}},
		{"etcd's alone", []*block.VolumeStatus{partition("ETCD"), volumeOf("CRI", block.VolumeTypeDirectory, "")}, []string{"ETCD"}},
		{"what a restore has no business with", []*block.VolumeStatus{partition("STATE"), partition("META"), partition("u-data"), partition("IMAGECACHE")}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRestorer(t, b, Options{Address: newServer(t, b, havingVolumes(c.volumes...)).address})
			got, err := r.Volumes(t.Context())
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// The order of the node's list is its own, and two looks at one node are the same.
func TestVolumesAreSorted(t *testing.T) {
	all := []*block.VolumeStatus{volumeOf("LOG", block.VolumeTypePartition, "/dev/vdb2"), volumeOf("CRI", block.VolumeTypePartition, "/dev/vdb1")}
	if got, err := apart(all); err != nil || !slices.Equal(got, []string{"CRI", "LOG"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestVolumesThatAreNotThereYet(t *testing.T) {
	waiting := volumeOf("ETCD", block.VolumeTypePartition, "")
	for _, c := range []failure{
		{name: "partition without a place", server: havingVolumes(waiting), restore: volumesOf, kind: ErrNotReady,
			message: "list the volumes at NODE: the node is not ready for it yet: ETCD is waiting; wait for the node to boot, and see its console if it does not"},
		{name: "EPHEMERAL without a place", server: func(s *server) { s.played.volumes[0].TypedSpec().Location = "" }, restore: volumesOf, kind: ErrNotReady,
			message: "list the volumes at NODE: the node is not ready for it yet: EPHEMERAL is waiting; wait for the node to boot, and see its console if it does not"},
		{name: "no volumes", server: func(s *server) { s.played.volumes = nil }, restore: volumesOf, kind: ErrFailed,
			message: "list the volumes at NODE: the node answers with an error: the answer is empty" + logs},
		{name: "no EPHEMERAL", server: func(s *server) { s.played.volumes = s.played.volumes[1:] }, restore: volumesOf, kind: ErrFailed,
			message: "list the volumes at NODE: the node answers with an error: the answer is empty" + logs},
	} {
		t.Run(c.name, c.run)
	}
}
