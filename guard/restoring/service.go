package restoring

import (
	"fmt"
	"strings"

	"github.com/quorate/quorate/guard"
)

// Service is a node's etcd as the node's machine API has it: a second witness where etcd
// itself cannot be asked. It tells no revision, so that it proves no recovery.
type Service struct {
	// State is Talos' word, as Running or Failed; Says what the service told last.
	State, Says string
	Healthy     bool
	// MemberID and Members are those of a healthy one: its own, and the linearizable list.
	MemberID uint64
	Members  []guard.Member
}

// serves tells whether the node runs a healthy etcd, as a voter of what it lists.
func (s Seen) serves() bool {
	return s.Etcd == nil && s.Service != nil && s.Service.Healthy && (&Etcd{MemberID: s.Service.MemberID, Members: s.Service.Members}).listsItself()
}

// unwitnessed tells whether neither etcd nor the machine API said how etcd is.
func (s Seen) unwitnessed() bool { return s.Etcd == nil && s.Service == nil }

func (s Service) String() string {
	if !s.Healthy {
		return strings.TrimSuffix(fmt.Sprintf("its machine API says that etcd is %s: %s", s.State, s.Says), ": ")
	}
	var names []string
	for _, m := range s.Members {
		names = append(names, m.Name)
	}
	return fmt.Sprintf("its machine API says that etcd is %s and healthy, with the members %s", s.State, strings.Join(names, ", "))
}

// unasked gives up where the target runs a healthy etcd that nobody can ask whether it is
// the recovered one. Whatever it is, it is not wiped.
func (t *turn) unasked(seen Seen) {
	t.Failure = fmt.Sprintf("The etcd on %s cannot be asked whether it is the recovered one%s. It is not wiped for that: see that port 2379 of %s is reached from where the restore runs, or run the command where it is.",
		t.Target, ill(seen), t.Target)
}

// unwitnessed waits for a word on the target's etcd.
func (t *turn) unwitnessed(seen Seen) {
	t.wait(t.Target + " has etcd data, and neither its etcd nor its machine API says how etcd is" + ill(seen))
}
