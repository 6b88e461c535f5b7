package restore

import (
	"cmp"
	"crypto/rand"
	"strings"

	"github.com/quorate/quorate/internal/snapshot"
)

// PinnedName is the name of older restores' copies of what they upload: one for all.
const PinnedName = pinnedPrefix + pinnedSuffix

const (
	pinnedPrefix = "etcd-restore"
	pinnedSuffix = ".snapshot.age"
)

// NewPinnedName is the name of the copy of one restore, beside the backups: two that begin
// at once do not write over each other's. It is no snapshot's.
func NewPinnedName() string {
	return pinnedPrefix + "-" + strings.ToLower(rand.Text()) + pinnedSuffix
}

// IsPinned tells whether a name is that of a restore's copy. No snapshot's begins so.
func IsPinned(name string) bool {
	return strings.HasPrefix(name, pinnedPrefix) && strings.HasSuffix(name, pinnedSuffix)
}

// Pinned is what is uploaded: the resealed snapshot, of which the object
// Object is the ciphertext.
type Pinned struct {
	// Name is the object's; empty in older markers, whose copy is PinnedName.
	Name string `json:"name,omitempty"`
	// Sum and Size are the ciphertext's, PlainSum and PlainSize those of what is
	// uploaded: hexadecimal SHA-256, and bytes.
	Sum       string `json:"sum"`
	Size      int64  `json:"size"`
	PlainSum  string `json:"plainSum"`
	PlainSize int64  `json:"plainSize,omitempty"`
	// Floor is a revision that only the recovered etcd has: above all that the old one
	// reached or could still reach.
	Floor int64 `json:"floor"`
	// Undo is the name of the snapshot of what was thrown away; empty without one.
	Undo string `json:"undo,omitempty"`
}

// PinnedOf is a copy as it was encrypted, by its name in the store. Sums are bare here.
func PinnedOf(name string, s snapshot.Sealed) Pinned {
	bare := func(sum string) string { return strings.TrimPrefix(sum, "sha256:") }
	return Pinned{Name: name, Sum: bare(s.Sum), Size: s.Size, PlainSum: bare(s.PlainSum), PlainSize: s.PlainSize}
}

// Object is the copy's name in the store.
func (p Pinned) Object() string { return cmp.Or(p.Name, PinnedName) }
