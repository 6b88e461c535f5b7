package worker

import (
	"encoding/json"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/quorate/quorate/internal/snapshot"
)

const (
	backupFolder  = "/quorate.dev/talosetcdbackups/"
	backupVersion = "quorate.dev/v1alpha1"
	secretFolder  = "/secrets/"
	// maxBackups bounds what an answer has of backups, in bytes of JSON: whoever wrote the
	// snapshot may have filled each with a megabyte.
	maxBackups = 256 << 10
)

// backups keeps the TalosEtcdBackups among the keys of a snapshot, and which of their
// Secrets are there. Keys come sorted, so that a backup is seen before its Secret.
type backups struct {
	into *snapshot.Inspection
	size int
	// secrets are those that refer to a Secret, by its key.
	secrets map[string][]*snapshot.BackupSpec
}

func (k *backups) see(b *bolt.Bucket, name string, revision []byte) {
	for _, spec := range k.secrets[name] {
		spec.HasSecret = true
	}
	root, object, found := strings.Cut(name, backupFolder)
	namespace, object, named := strings.Cut(object, "/")
	if !found || !named || strings.Contains(object, "/") {
		return
	}
	backup := snapshot.Backup{Namespace: namespace, Name: object, Spec: backupSpecOf(b.Get(revision))}
	if !k.fits(backup) {
		k.into.MoreBackups++
		return
	}
	k.into.Backups = append(k.into.Backups, backup)
	if backup.Spec != nil {
		secret := root + secretFolder + namespace + "/" + backup.Spec.Secret
		k.secrets[secret] = append(k.secrets[secret], backup.Spec)
	}
}

func (k *backups) fits(backup snapshot.Backup) bool {
	data, err := json.Marshal(backup)
	if err != nil || k.size+len(data) > maxBackups {
		return false
	}
	k.size += len(data)
	return true
}

// backupSpecOf is what an entry of etcd says of a backup, nil if it cannot be read. The
// API server writes objects of our kinds in JSON.
func backupSpecOf(entry []byte) *snapshot.BackupSpec {
	var o struct {
		APIVersion string `json:"apiVersion"`
		Spec       struct {
			ClusterRef  struct{ Name string } `json:"clusterRef"`
			ObjectStore struct {
				Endpoint       string                `json:"endpoint"`
				Region         string                `json:"region"`
				Bucket         string                `json:"bucket"`
				Prefix         string                `json:"prefix"`
				CredentialsRef struct{ Name string } `json:"credentialsRef"`
			} `json:"objectStore"`
		} `json:"spec"`
	}
	value, err := fieldsOf(entry)
	if err != nil || json.Unmarshal(value.value, &o) != nil || o.APIVersion != backupVersion {
		return nil
	}
	s := o.Spec.ObjectStore
	return &snapshot.BackupSpec{
		Cluster: o.Spec.ClusterRef.Name, Endpoint: s.Endpoint, Region: s.Region, Bucket: s.Bucket, Prefix: s.Prefix, Secret: s.CredentialsRef.Name,
	}
}
