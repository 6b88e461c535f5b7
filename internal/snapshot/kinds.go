package snapshot

import (
	"errors"
	"fmt"
)

// kinds are the errors that a child hands to its parent, by the name that they have on
// the way; the first one that fits is taken.
var kinds = []struct {
	name string
	err  error
}{
	{"truncated", ErrTruncated},
	{"checksum", ErrChecksum},
	{"damaged", ErrDamaged},
	{"worker", ErrWorker},
}

// FailureOf is an error on its way to the parent.
func FailureOf(err error) Failure {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return Failure{Kind: k.name, Text: short(err.Error())}
		}
	}
	return Failure{Kind: "worker", Text: short(err.Error())}
}

// Err is the error again, of its kind and with its text.
func (f Failure) Err() error {
	for _, k := range kinds {
		if k.name == f.Kind {
			return &told{kind: k.err, text: short(f.Text)}
		}
	}
	return fmt.Errorf("%w: the child failed in a way that is not known here", ErrWorker)
}

// told is an error of another process.
type told struct {
	kind error
	text string
}

func (t *told) Error() string { return t.text }
func (t *told) Unwrap() error { return t.kind }

// maxWords bounds what is repeated of a child, in bytes.
const maxWords = 500

func short(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return text[:maxWords] + " …"
}
