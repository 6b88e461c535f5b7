package rejoin

import "fmt"

// Action is what is to be done.
type Action string

// The actions.
const (
	// AskTombstone and AskLog: the verdict depends on a witness that was not asked
	// yet. Ask it and judge again.
	AskTombstone Action = "ask the tombstone"
	AskLog       Action = "ask the log"
	// AskApplied: the same of what the database holds.
	AskApplied Action = "ask the database"
	// Start etcd with the disk as it is.
	Start Action = "start"
	// StartAsFounder starts on an empty disk with the founders' list: a new
	// cluster, or a founder's late part of one.
	StartAsFounder Action = "start as a founder"
	// StartAsListed starts on an empty disk as the entry that the list has for it.
	StartAsListed Action = "start as listed"
	// Join adds the member as a learner and starts it on an empty disk.
	Join Action = "join as a learner"
	// Wait for what Reason names, and judge again.
	Wait Action = "wait"
	// Refuse to start: Err says why.
	Refuse Action = "refuse"
)

// Verdict is the answer of Judge.
type Verdict struct {
	Action Action
	// Err is one of the package's errors if Action is Refuse.
	Err error
	// MayPass is set if a refusal may pass by itself: judge again before it is final.
	MayPass bool
	// By names the witness that decided.
	By By
	// Reason is one line: what was seen, what follows, the way out.
	Reason string
}

// By is the witness that a verdict rests on.
type By string

// The witnesses.
const (
	ByList          By = "list"
	ByLedger        By = "ledger"
	ByTombstone     By = "tombstone"
	ByLog           By = "log"
	ByDisk          By = "disk"
	ByConfiguration By = "configuration"
)

// Judge decides. It asks for the tombstone and the log only where the verdict
// depends on them, or where they are cheap and name the reason.
func Judge(f Facts) Verdict {
	if f.impostor() {
		f.Live = Live{Why: fmt.Sprintf("another cluster, %s, answers in its place", f.Live.ClusterID)}
	}
	switch {
	case f.Live.Denied:
		return mayPass(refuse(ErrMembershipCheckFailed, ByList, "the cluster answers, and not to this member's certificate (%s): its common name must be a user of etcd with the role root", f.Live.Why))
	case f.Disk.State == HasWAL && f.Live.Answered:
		return f.member()
	case f.Disk.State == HasWAL:
		return f.unanswered()
	case f.Disk.State == NoWAL && f.Live.Answered:
		return f.newcomer()
	case f.Disk.State == NoWAL:
		return f.alone()
	case f.Live.Answered:
		return f.damaged()
	}
	return mayPass(refuse(ErrMembershipCheckFailed, ByDisk, "the IDs in the WAL cannot be read (%s) and the cluster does not answer (%s): heal the cluster, or replace this member's volume", f.Disk.Why, f.Live.Why))
}

// Wanted is the cluster whose list counts: the disk's own, else the member's; 0 if
// any will do.
func (f Facts) Wanted() ID {
	if f.Disk.State == HasWAL {
		return f.Disk.ClusterID
	}
	return f.Self.cluster()
}

// impostor tells whether another cluster answers than the one that the disk is of
// and that this member belongs to: a lost pod may have formed one of its own.
func (f Facts) impostor() bool {
	return f.Live.Answered && f.Disk.State == HasWAL && f.Disk.ClusterID == f.Self.cluster() && f.Live.ClusterID != f.Self.cluster()
}

// foreign tells whether this is the ID of another cluster than this member's own.
func (f Facts) foreign(cluster ID) bool { return f.Self.cluster() != 0 && f.Self.cluster() != cluster }

func mayPass(v Verdict) Verdict {
	v.MayPass = true
	return v
}

func refuse(err error, by By, format string, args ...any) Verdict {
	return Verdict{Action: Refuse, Err: err, By: by, Reason: fmt.Sprintf("%v: ", err) + fmt.Sprintf(format, args...)}
}

func do(action Action, by By, format string, args ...any) Verdict {
	return Verdict{Action: action, By: by, Reason: fmt.Sprintf(format, args...)}
}
