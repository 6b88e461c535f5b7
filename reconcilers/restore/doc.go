// Package restore carries out TalosOperations of kind etcd-restore: it prepares what
// must be at hand before anything is destroyed, has a job of this process wipe and
// recover etcd, and afterwards, with Kubernetes back as it was at the snapshot, sees to
// nodes and machines until each is Ready.
//
// The restore deletes its own operation. What outlives it is the marker beside the
// backups (package internal/restore): Resume makes the operation again from there.
package restore
