package snapshot

// Inspection is what is in a snapshot whose sum is right.
type Inspection struct {
	Revision int64 `json:"revision"` // the last one
	// Compacted is the revision up to which etcd was told to forget; 0 if never.
	Compacted int64 `json:"compacted,omitempty"`
	Keys      int64 `json:"keys"` // alive at the last revision
	// Members are as etcd last listed them, by name.
	Members []Member `json:"members"`
	// CRDs are those of quorate.dev, by name.
	CRDs []CRD `json:"crds,omitempty"`
	// Backups are the TalosEtcdBackups, in the order of their keys. As an answer is bounded,
	// MoreBackups are left out.
	Backups     []Backup `json:"backups,omitempty"`
	MoreBackups int64    `json:"moreBackups,omitempty"`
	Size        int64    `json:"size"` // of the file, in bytes
	Sum         string   `json:"sum"`  // of the file, as "sha256:<hex>"
}

// CRD is a CustomResourceDefinition in a snapshot.
type CRD struct {
	Name     string   `json:"name"`     // such as etcds.quorate.dev
	Versions []string `json:"versions"` // served ones, as they are written; none if it cannot be read, as where it is encrypted
}

// Backup is a TalosEtcdBackup in a snapshot. There is nothing secret in it.
type Backup struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Spec is nil if it cannot be read, as where it is encrypted.
	Spec *BackupSpec `json:"spec,omitempty"`
}

// BackupSpec is what leads to the objects of a backup, as it is written: a default that
// was left out is empty.
type BackupSpec struct {
	Cluster  string `json:"cluster"` // the TalosCluster's name
	Endpoint string `json:"endpoint,omitempty"`
	Region   string `json:"region,omitempty"`
	Bucket   string `json:"bucket"`
	Prefix   string `json:"prefix,omitempty"`
	// Secret names that of the store's credentials; HasSecret tells whether the snapshot
	// has one of that name.
	Secret    string `json:"secret"`
	HasSecret bool   `json:"hasSecret"`
}

// Resealed is a snapshot that was made of another one.
type Resealed struct {
	Revision int64 `json:"revision"` // the last one, as the recovered etcd begins with it
	// Before is that of the snapshot that it was made of.
	Before int64  `json:"before"`
	Keys   int64  `json:"keys"` // alive, as many as before
	Size   int64  `json:"size"` // of the file, in bytes
	Sum    string `json:"sum"`  // of the file, as "sha256:<hex>"
}
