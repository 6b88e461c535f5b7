package talos

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
)

// The system volumes that are folders of EPHEMERAL, or partitions of their own.
const (
	VolumeETCD    = constants.EtcdDataVolumeID
	VolumeCRI     = "CRI"
	VolumeKubelet = "KUBELET"
	VolumeLog     = "LOG"
)

// place is where a volume is seen.
type place struct{ label, mount string }

// promotable are those volumes in Talos's order. Talos 1.13 lets ETCD alone be a
// partition of its own, and 1.14 all of them.
var promotable = []place{
	{VolumeETCD, constants.EtcdDataPath}, {VolumeCRI, "/var/lib/containerd"}, {VolumeKubelet, "/var/lib/kubelet"}, {VolumeLog, constants.LogMountPoint},
}

// errVolume is the error of Options.Volumes that name what cannot be a partition.
var errVolume = fmt.Errorf("a partition of its own can have %s, %s, %s and %s alone", VolumeETCD, VolumeCRI, VolumeKubelet, VolumeLog)

func checkVolumes(labels []string) error {
	for _, label := range labels {
		if !isPromotable(label) {
			return fmt.Errorf("volume %q: %w", label, errVolume)
		}
	}
	return nil
}

func isPromotable(label string) bool {
	return slices.ContainsFunc(promotable, func(v place) bool { return v.label == label })
}

// partitions are the labels of all that the disk has.
func (d disk) partitions() []string { return append(slices.Clone(partitions), d.dedicated...) }

// mounts are where partitions are, the most particular first.
func (d disk) mounts() (out []place) {
	for _, v := range promotable {
		if slices.Contains(d.dedicated, v.label) {
			out = append(out, v)
		}
	}
	return append(out, []place{
		{constants.EphemeralPartitionLabel, constants.EphemeralMountPoint}, {constants.StatePartitionLabel, constants.StateMountPoint},
	}...)
}

// hostPath is where a path of the node is on this machine. Nothing is there that is on no
// partition; false. A partition that is mounted below another one is seen at its own
// place alone.
func (d disk) hostPath(inside string) (string, bool) {
	for _, m := range d.mounts() {
		if rest, ok := strings.CutPrefix(inside, m.mount); ok && (rest == "" || rest[0] == '/') {
			return filepath.Join(d.dir, m.label, rest), true
		}
	}
	return "", false
}

// at is the hostPath of a place that is always on a partition.
func (d disk) at(inside string) string {
	host, _ := d.hostPath(inside)
	return host
}

// volumes are the resources that tell of the disk.
func (d disk) volumes() (out []*block.VolumeStatus) {
	for i, label := range d.partitions() {
		out = append(out, volume(label, i+1))
	}
	for _, v := range promotable {
		if !slices.Contains(d.dedicated, v.label) {
			out = append(out, directory(v.label, path.Dir(v.mount)))
		}
	}
	return append(out, directory("/var/lib", constants.EphemeralMountPoint))
}

// volume is a system partition that is ready for use.
func volume(label string, index int) *block.VolumeStatus {
	r := block.NewVolumeStatus(block.NamespaceName, label)
	spec := r.TypedSpec()
	spec.Phase = block.VolumePhaseReady
	spec.Type = block.VolumeTypePartition
	spec.ParentLocation = "/dev/vda"
	spec.Location = fmt.Sprintf("/dev/vda%d", index)
	spec.MountLocation = spec.Location
	spec.PartitionIndex = index
	if label != constants.MetaPartitionLabel {
		spec.Filesystem = block.FilesystemTypeXFS
	}
	return r
}

// directory is a volume without a device of its own: it has no location, and its parent
// is what is mounted where it lies.
func directory(label, in string) *block.VolumeStatus {
	r := block.NewVolumeStatus(block.NamespaceName, label)
	spec := r.TypedSpec()
	spec.Phase = block.VolumePhaseReady
	spec.Type = block.VolumeTypeDirectory
	spec.MountSpec.ParentID = in
	if in == constants.EphemeralMountPoint {
		spec.MountSpec.ParentID = constants.EphemeralPartitionLabel
	}
	return r
}
