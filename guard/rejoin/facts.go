package rejoin

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

// Facts are all that a verdict is made of.
type Facts struct {
	Self Self
	Disk Disk
	Live Live
	// Ledger holds what the controller has recorded of removals.
	Ledger []Removal
	// Tombstone is whether the disk's own ID is in the bucket members_removed, and
	// Logged whether a committed removal of it is in the tail of its WAL.
	Tombstone, Logged Witness
	// Applied is whether the database of a disk without a WAL has any data.
	Applied Witness
}

// Self is who the configuration says that this member is.
type Self struct {
	Name     string
	PeerURLs []string
	// Ordinal belongs if it is below Replicas.
	Ordinal, Replicas int
	// Founder is set if the member is on the founders' list, whose IDs are Founding.
	Founder  bool
	Founding Founding
	// ClusterID is the one that was recorded once the cluster had formed; 0 before.
	ClusterID ID
	// Source is set if the cluster is one that existed before, which this member
	// joins.
	Source bool
	// Accepted is set if a person vouches for the disk's member: a witness that
	// cannot be read is no obstacle then.
	Accepted bool
}

// cluster is the ID of the cluster that this member belongs to: the recorded one,
// or the one that its founders will form; 0 if it joins one that is not recorded.
func (s Self) cluster() ID {
	if s.ClusterID == 0 && !s.Source {
		return s.Founding.ClusterID
	}
	return s.ClusterID
}

// DiskState is what the disk holds.
type DiskState string

// The states of a disk.
const (
	// NoWAL: there is no WAL segment. What else there is does not count.
	NoWAL DiskState = "no WAL"
	// HasWAL: the IDs are known.
	HasWAL DiskState = "WAL"
	// UnreadableWAL: there is a WAL, and its IDs cannot be read.
	UnreadableWAL DiskState = "unreadable WAL"
)

// Disk is the identity in the metadata of the WAL.
type Disk struct {
	State               DiskState
	MemberID, ClusterID ID
	// Name is the member that the disk was set up for; empty if that is not known.
	Name string
	// Why says what is wrong with an unreadable WAL.
	Why string
}

// Live is a linearizable member list.
type Live struct {
	Answered  bool
	ClusterID ID
	Members   []Member
	// Endpoint is the one that answered.
	Endpoint string
	// Denied is set if the cluster answers, and not to this member's certificate.
	Denied bool
	// Why says why nobody answered, or what was denied.
	Why string
}

// Member is a member as the list has it.
type Member struct {
	ID                   ID
	Name                 string
	PeerURLs, ClientURLs []string
	Learner              bool
}

// Started tells whether the member has ever started: only then has it published
// client URLs. A founder has its name before that.
func (m Member) Started() bool { return len(m.ClientURLs) > 0 }

// Removal is an entry of the ledger. It is matched by both IDs, never by name.
type Removal struct {
	MemberID  ID `json:"memberID"`
	ClusterID ID `json:"clusterID"`
	// Confirmed is set after a linearizable list lacked the member; before, the
	// removal was only intended and may never have happened.
	Confirmed bool `json:"confirmed,omitempty"`
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

// Voters are the client URLs of the started voters: learners answer neither for
// the member list nor for changes of it.
func (l Live) Voters() []string {
	var urls []string
	for _, m := range l.Members {
		if !m.Learner {
			urls = append(urls, m.ClientURLs...)
		}
	}
	return urls
}
