package snapshot

import (
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// What scrypt's work factors cost in memory: 1 KiB shifted by them.
const (
	// DefaultWorkFactor costs 1 MiB.
	DefaultWorkFactor = 10
	// MaxWorkFactor costs 256 MiB; it is age's own default when it encrypts.
	MaxWorkFactor = 18
)

// Keyring is what may open a snapshot.
type Keyring struct {
	Key         *Key // nil is none
	Passphrases []string
	// WorkFactor is the largest one of a passphrase, DefaultWorkFactor if it is 0. The
	// object itself says how much work it needs.
	WorkFactor int
}

// Open is Keyring.Open with the default work factor. k may be nil.
func Open(r io.Reader, k *Key, passphrases ...string) (io.Reader, error) {
	return Keyring{Key: k, Passphrases: passphrases}.Open(r)
}

// Open reads the header and gives the plaintext. Its reader ends with io.EOF only if the
// snapshot is whole; with ErrDamaged, ErrTruncated or ErrChecksum if it is not; with
// what r failed with. Open itself fails with these, ErrKey and ErrWorkFactor.
func (k Keyring) Open(r io.Reader) (io.Reader, error) {
	opened, err := k.decrypt(r)
	if err != nil {
		return nil, err
	}
	return &checked{r: opened, trailer: newTrailer()}, nil
}

func (k Keyring) decrypt(r io.Reader) (io.Reader, error) {
	source := &sourced{r: r}
	identities, err := k.identities()
	if err != nil {
		return nil, err
	}
	// age reads no header that is larger than 2 MiB.
	plain, err := age.Decrypt(source, identities...)
	if err != nil {
		return nil, source.explainHeader(err)
	}
	return &decrypted{r: plain, source: source}, nil
}

func (k Keyring) identities() (all []age.Identity, err error) {
	if k.Key != nil {
		all = append(all, k.Key.identity)
	}
	for _, p := range k.Passphrases {
		identity, err := age.NewScryptIdentity(p)
		if err != nil {
			return nil, fmt.Errorf("%w: a passphrase is empty", ErrKey)
		}
		all = append(all, &hardened{identity: identity, most: k.most()})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: there is neither a key nor a passphrase", ErrKey)
	}
	return all, nil
}

func (k Keyring) most() int {
	if k.WorkFactor == 0 {
		return DefaultWorkFactor
	}
	return min(k.WorkFactor, MaxWorkFactor)
}

// checked is a plaintext that ends well only if its sum is right.
type checked struct {
	r       io.Reader
	trailer *trailer
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	_, _ = c.trailer.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if broken := c.trailer.check(); broken != nil {
			return n, fmt.Errorf("read the snapshot: %w", broken)
		}
	}
	return n, err
}
