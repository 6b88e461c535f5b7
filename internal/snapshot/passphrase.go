package snapshot

import (
	"fmt"
	"strconv"

	"filippo.io/age"
)

// hardened is a passphrase that does so much work and no more: what it costs is written
// in the object, by whoever wrote that.
type hardened struct {
	identity *age.ScryptIdentity
	most     int
}

// Unwrap fails with ErrWorkFactor before any work.
func (h *hardened) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != "scrypt" || len(s.Args) != 2 {
			continue
		}
		factor, err := strconv.Atoi(s.Args[1])
		if err == nil && factor > h.most {
			return nil, fmt.Errorf("%w: work factor %d, and at most %d is; encrypt it with less, or allow more", ErrWorkFactor, factor, h.most)
		}
	}
	h.identity.SetMaxWorkFactor(h.most)
	return h.identity.Unwrap(stanzas)
}
