// Package witness is what the readers of a member's disk have in common: how they
// answer, and how they open files that nobody vouches for. It imports next to
// nothing: one of its users is a process that is started for a single question.
package witness

import (
	"fmt"
	"strconv"
)

// ID is the ID of an etcd member or cluster; 0 is none. It prints as etcd prints
// it in logs and as a key: lower-case hex without leading zeros.
type ID uint64

func (id ID) String() string { return strconv.FormatUint(uint64(id), 16) }

// MarshalText prints the ID; 0 as an empty text.
func (id ID) MarshalText() ([]byte, error) {
	if id == 0 {
		return nil, nil
	}
	return []byte(id.String()), nil
}

// UnmarshalText reads what MarshalText prints, in either case.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = 0
		return nil
	}
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("%q is no ID (up to 16 hex digits)", text)
	}
	*id = ID(n)
	return nil
}

// Answer is what a witness says to "was this member removed?".
type Answer string

// The answers. The zero value is that nobody asked.
const (
	NotAsked   Answer = ""
	No         Answer = "no"
	Yes        Answer = "yes"
	Unreadable Answer = "cannot be read"
)

// Witness is one witness's testimony. Why says what was seen.
type Witness struct {
	Answer Answer
	Why    string
}

func (w Witness) String() string {
	text := string(w.Answer)
	if w.Answer == NotAsked {
		text = "not asked"
	}
	if w.Why != "" {
		text += " (" + w.Why + ")"
	}
	return text
}
