package restore

import (
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/snapshot"
)

// ReturnedOf is a backup of a snapshot as a rewind of a cluster brings it back; it is
// absent if it is of another cluster, and empty if it cannot be read.
func ReturnedOf(s *snapshot.BackupSpec, cluster string) restoring.Returned {
	switch {
	case s == nil:
		return restoring.Returned{}
	case s.Cluster != cluster:
		return restoring.Returned{Absent: true}
	}
	return restoring.Returned{
		Store:  &restoring.StoreSettings{Endpoint: s.Endpoint, Region: s.Region, Bucket: s.Bucket, Prefix: s.Prefix},
		Secret: s.Secret, NoSecret: !s.HasSecret,
	}
}
