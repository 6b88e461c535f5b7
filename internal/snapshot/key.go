package snapshot

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"filippo.io/age"
)

// purpose keeps the key apart from whatever else is derived from a bundle. A change
// of how it is derived takes another one.
const purpose = "quorate.dev/snapshot/1"

// Key is what a cluster's snapshots are encrypted with: an X25519 identity of age that
// follows from the cluster's secrets alone, so that whoever has the bundle can read
// the backups and nobody has a second secret to lose.
type Key struct {
	identity  *age.X25519Identity
	recipient *age.X25519Recipient
}

// DeriveKey derives it from a secrets bundle in YAML by HKDF-SHA256 over cluster.id,
// cluster.secret and secrets.secretboxencryptionsecret (the one of AES-CBC in a bundle
// that has no other). It fails with ErrBundle.
func DeriveKey(data []byte) (*Key, error) {
	b, err := readBundle(data)
	if err != nil {
		return nil, err
	}
	if b.Secrets.Secretbox == "" {
		b.Secrets.Secretbox = b.Secrets.AESCBC
	}
	var secret []byte
	for _, field := range []struct{ name, value string }{
		{"cluster.id", b.Cluster.ID}, {"cluster.secret", b.Cluster.Secret},
		{"secrets.secretboxencryptionsecret", b.Secrets.Secretbox},
	} {
		if field.value == "" {
			return nil, fmt.Errorf("%w: %s is missing", ErrBundle, field.name)
		}
		// With its length before it, no field can be moved into the next one.
		secret = binary.BigEndian.AppendUint32(secret, uint32(len(field.value)))
		secret = append(secret, field.value...)
	}
	return keyOf(secret)
}

func keyOf(secret []byte) (*Key, error) {
	scalar, err := hkdf.Key(sha256.New, secret, nil, purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of the snapshots: %w", err)
	}
	identity, err := age.ParseX25519Identity(bech32("age-secret-key-", scalar))
	if err != nil {
		return nil, fmt.Errorf("%w: no key follows from it", ErrBundle)
	}
	return &Key{identity: identity, recipient: identity.Recipient()}, nil
}

// Fingerprint tells keys apart and gives nothing away: the SHA-256 of the recipient,
// as "sha256:<hex>".
func (k *Key) Fingerprint() string {
	return fingerprint([]byte(k.recipient.String()))
}

// Recipient is the public half, as age's own program takes it after -r.
func (k *Key) Recipient() string { return k.recipient.String() }

// String keeps the secret half out of logs.
func (k *Key) String() string { return k.Fingerprint() }

// GoString is String.
func (k *Key) GoString() string { return k.Fingerprint() }

func fingerprint(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
