package restoring

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quorate/quorate/api/v1alpha1"
)

// StoreSettings are where a backup has its objects, as its spec says it.
type StoreSettings struct{ Endpoint, Region, Bucket, Prefix string }

// Returned is the backup as the snapshot has it and the rewind brings it back: from then
// on the controllers look for the restore's marker where it points to.
type Returned struct {
	// Absent: the snapshot has no backup of that name that is of the cluster.
	Absent bool
	// Store is nil if it cannot be read.
	Store *StoreSettings
	// Secret names that of the store's credentials, in the backup's namespace; NoSecret:
	// the snapshot has none of that name.
	Secret   string
	NoSecret bool
}

// returned refuses what would have the controllers not find the marker after the rewind:
// nobody would make the operation again and end the restore.
func (p Prospect) returned() []Block {
	r := p.Returned
	if r == nil {
		return nil
	}
	out := blockIf(r.Absent, BlockedBackupAbsent,
		"The snapshot has no TalosEtcdBackup %s of cluster %s in namespace %s: after the rewind the controllers would find neither it nor the marker of this restore, and would not end it. Take a snapshot from after it was made. Else restore without Kubernetes, and make it as it is now once the API answers: %s",
		p.Backup, p.Cluster, p.Namespace, p.Recovery.Command())
	if r.Absent || r.Store == nil {
		return out
	}
	changed := p.Store.changed(*r.Store)
	out = blockIf(len(changed) > 0, BlockedOtherStore,
		"In the snapshot backup %s points to another store: %s. After the rewind the controllers would look for the marker of this restore there, and would not end it. Take a snapshot from after the change, or set spec.objectStore to what it was, if that leads to the same objects. Else restore without Kubernetes, and set spec.objectStore to what it is now once the API answers: %s",
		p.Backup, strings.Join(changed, ", "), p.Recovery.Command())
	return append(out, blockIf(r.NoSecret, BlockedNoCredentials,
		"The snapshot has no Secret %s/%s, by which backup %s reaches its store there: after the rewind the controllers could not look for the marker of this restore, and would not end it. Take a snapshot from after it was made. Else restore without Kubernetes, and make it once the API answers: %s",
		p.Namespace, r.Secret, p.Backup, p.Recovery.Command())...)
}

// changed are the settings that were others then, each with both values.
func (s StoreSettings) changed(then StoreSettings) (out []string) {
	now, was := s.effective(), then.effective()
	for _, c := range []struct{ name, now, was string }{
		{"endpoint", now.Endpoint, was.Endpoint}, {"region", now.Region, was.Region}, {"bucket", now.Bucket, was.Bucket}, {"prefix", now.Prefix, was.Prefix},
	} {
		if c.now != c.was {
			out = append(out, fmt.Sprintf("its %s is %s now and was %s then", c.name, cmp.Or(c.now, "left out"), cmp.Or(c.was, "left out")))
		}
	}
	return out
}

// effective are the settings with the defaults of what was left out, as the store has
// them.
func (s StoreSettings) effective() StoreSettings {
	s.Endpoint, s.Region = strings.TrimSuffix(s.Endpoint, "/"), cmp.Or(s.Region, v1alpha1.DefaultRegion)
	return s
}

// Doubts are what could not be found out and stands in nobody's way; whoever agrees to the
// restore has to know them.
func Doubts(p Prospect) []string {
	if r := p.Returned; r == nil || r.Absent || r.Store != nil {
		return nil
	}
	return []string{fmt.Sprintf("What the snapshot says of backup %s could not be read, as where objects are encrypted at rest. The controllers look for the marker of this restore where it points to: if spec.objectStore was changed since, set it to what it is now once the API answers.", p.Backup)}
}
