package snapshot

import "errors"

// What a caller branches on.
var (
	// ErrBundle: the secrets bundle lacks what is needed of it. The text names the
	// field, never a value.
	ErrBundle = errors.New("the secrets bundle cannot be used")
	// ErrKey: the object is encrypted to another key than those that are at hand.
	ErrKey = errors.New("the snapshot is encrypted to another key")
	// ErrWorkFactor: the passphrase is hardened by more work than is allowed here.
	ErrWorkFactor = errors.New("the passphrase needs more work than is allowed")
	// ErrDamaged: what is there is no snapshot, or is not as it was written.
	ErrDamaged = errors.New("the snapshot is damaged")
	// ErrTruncated: it is cut. It is also ErrDamaged.
	ErrTruncated = damage("the snapshot is cut off")
	// ErrChecksum: the SHA-256 at its end is not that of the database before it. It
	// is also ErrDamaged.
	ErrChecksum = damage("the sum at the end of the snapshot is not that of the database before it")
	// ErrMeta: the object beside a snapshot cannot be read.
	ErrMeta = errors.New("what is written beside the snapshot cannot be read")
	// ErrNewerMeta: it was written by a newer Quorate, and is left alone.
	ErrNewerMeta = errors.New("what is written beside the snapshot is of a newer Quorate")
	// ErrWorker: the child could not do its work, which says nothing of the
	// snapshot: it did not start, was killed from outside, or took too long.
	ErrWorker = errors.New("the snapshot could not be looked at")
)

// damaged is a kind of damage.
type damaged struct{ text string }

func damage(text string) error { return &damaged{text} }

func (d *damaged) Error() string        { return d.text }
func (d *damaged) Is(target error) bool { return target == ErrDamaged }
