package rejoin

import "github.com/quorate/quorate/guard/rejoin/witness"

// What the readers of a disk speak in.
type (
	ID      = witness.ID
	Answer  = witness.Answer
	Witness = witness.Witness
)

// The answers.
const (
	NotAsked   = witness.NotAsked
	No         = witness.No
	Yes        = witness.Yes
	Unreadable = witness.Unreadable
)

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
