package snapshot

import (
	"strings"
	"time"
)

const (
	namePrefix = "etcd-"
	nameTime   = "20060102T150405Z"
	nameSuffix = ".snapshot.age"
	metaSuffix = ".snapshot.json"
)

// SnapshotName is the object's name of a snapshot that was taken at a time, in UTC and
// to the second: etcd-20300102T150405Z.snapshot.age. Names sort by time.
func SnapshotName(t time.Time) string {
	return namePrefix + t.UTC().Format(nameTime) + nameSuffix
}

// MetaName is the name of the object beside a snapshot: etcd-20300102T150405Z.snapshot.json.
func MetaName(snapshot string) string {
	return strings.TrimSuffix(snapshot, nameSuffix) + metaSuffix
}

// ParseName is the time in a snapshot's name; false for the name of anything else.
func ParseName(name string) (time.Time, bool) {
	text, prefixed := strings.CutPrefix(name, namePrefix)
	text, suffixed := strings.CutSuffix(text, nameSuffix)
	if !prefixed || !suffixed || len(text) != len(nameTime) {
		return time.Time{}, false
	}
	t, err := time.Parse(nameTime, text)
	return t, err == nil
}
