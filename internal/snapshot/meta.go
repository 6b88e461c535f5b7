package snapshot

import (
	"encoding/json"
	"fmt"
	"time"
)

// MetaSchema is the newest schema of Meta that this version knows.
const MetaSchema = 1

// maxMeta bounds what is read of one, in bytes.
const maxMeta = 1 << 20

// Meta is the object beside a snapshot. It is written last: a snapshot without it is not
// whole. It holds no secret.
type Meta struct {
	Schema int    `json:"schema"`
	Name   string `json:"name"` // of the snapshot's object, without the prefix of the store
	// Cluster and Namespace are those of the TalosCluster.
	Cluster        string       `json:"cluster"`
	Namespace      string       `json:"namespace"`
	TalosClusterID string       `json:"talosClusterID"`
	EtcdClusterID  string       `json:"etcdClusterID,omitempty"` // in hex
	Time           time.Time    `json:"time"`
	Revision       int64        `json:"revision,omitempty"` // as it was taken; 0 while unknown
	Keys           int64        `json:"keys,omitempty"`
	Members        []Member     `json:"members,omitempty"`
	Size           int64        `json:"size"`      // of the object, in bytes
	PlainSize      int64        `json:"plainSize"` // of the snapshot
	Sum            string       `json:"sum"`
	PlainSum       string       `json:"plainSum"`
	Authorities    Fingerprints `json:"authorities"`
	KeyFingerprint string       `json:"keyFingerprint"`
	Quorate        string       `json:"quorate"` // the version that wrote it
	// Verified says when a restore of it was tried and what was in it; nil if never.
	Verified *Verified `json:"verified,omitempty"`
	// UndoOf is the restore that this one leads back from.
	UndoOf string `json:"undoOf,omitempty"`
}

// Member is a member of etcd as a snapshot lists it.
type Member struct {
	ID       string   `json:"id"` // in hex
	Name     string   `json:"name"`
	PeerURLs []string `json:"peerURLs"`
	Learner  bool     `json:"learner,omitempty"`
}

// Verified is the proof that a snapshot can be restored.
type Verified struct {
	Revision int64     `json:"revision"`
	Keys     int64     `json:"keys"` // alive at that revision
	Members  int       `json:"members"`
	At       time.Time `json:"at"`
}

// Encode writes it, with the schema of this version.
func (m Meta) Encode() ([]byte, error) {
	m.Schema = MetaSchema
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write what is beside snapshot %s: %w", m.Name, err)
	}
	return append(data, '\n'), nil
}

// DecodeMeta reads one. It fails with ErrNewerMeta, and with ErrMeta. Fields that it does
// not know are ignored.
func DecodeMeta(data []byte) (Meta, error) {
	if len(data) > maxMeta {
		return Meta{}, fmt.Errorf("%w: it has %d bytes, and at most %d are read", ErrMeta, len(data), maxMeta)
	}
	var version struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return Meta{}, fmt.Errorf("%w: it is no JSON: %w", ErrMeta, err)
	}
	if version.Schema > MetaSchema {
		return Meta{}, fmt.Errorf("%w: schema %d, and this version reads up to %d; use the newer one", ErrNewerMeta, version.Schema, MetaSchema)
	}
	var m Meta
	if err := json.Unmarshal(data, &m); err != nil {
		return Meta{}, fmt.Errorf("%w: %w", ErrMeta, err)
	}
	return m, m.check()
}

func (m Meta) check() error {
	_, named := ParseName(m.Name)
	switch {
	case m.Schema < 1:
		return fmt.Errorf("%w: it has no schema", ErrMeta)
	case !named:
		return fmt.Errorf("%w: %q is no name of a snapshot", ErrMeta, m.Name)
	case m.Sum == "" || m.PlainSum == "" || m.Size <= 0 || m.PlainSize <= 0:
		return fmt.Errorf("%w: the sums or sizes of %s are missing", ErrMeta, m.Name)
	}
	return nil
}
