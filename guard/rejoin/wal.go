package rejoin

import (
	"fmt"

	"github.com/quorate/quorate/guard/rejoin/witness"
)

// ReadDisk reads the identity of the disk with the data directory dataDir, whose
// WAL is in <dataDir>/member/wal. The IDs are in the second record of any segment,
// so it costs the same for a WAL of any size. The newest segment counts; an older one
// does if the newest is torn, and if both can be read they must agree.
//
// It runs in this process: it reads some kilobytes of a plain file, maps nothing
// into memory, and its panics are caught.
func ReadDisk(dataDir string) Disk {
	disk := Disk{State: NoWAL}
	err := witness.Guarded(func() error {
		paths, err := segmentNames(dataDir)
		if err != nil || len(paths) == 0 {
			return err
		}
		h, err := identity(paths)
		disk = Disk{State: HasWAL, MemberID: h.memberID, ClusterID: h.clusterID}
		return err
	})
	if err != nil {
		return Disk{State: UnreadableWAL, Why: err.Error()}
	}
	return disk
}

// identity is that of the newest segment that has one. The error is the newest's.
func identity(paths []string) (header, error) {
	var first error
	for i := len(paths) - 1; i >= 0; i-- {
		h, err := headerOf(paths[i])
		if err == nil {
			return h, agrees(h, paths[:i])
		}
		if first == nil {
			first = err
		}
	}
	return header{}, first
}

// agrees tells whether the segment before has the same IDs, if it can be read.
func agrees(h header, older []string) error {
	if len(older) == 0 {
		return nil
	}
	path := older[len(older)-1]
	before, err := headerOf(path)
	if err == nil && (before.memberID != h.memberID || before.clusterID != h.clusterID) {
		return fmt.Errorf("%s is of member %s of cluster %s and the segment after it of member %s of cluster %s", path, before.memberID, before.clusterID, h.memberID, h.clusterID)
	}
	return nil
}

func headerOf(path string) (header, error) {
	s, err := openSegment(path, longestHeader)
	if err != nil {
		return header{}, err
	}
	defer s.close()
	return s.header()
}
