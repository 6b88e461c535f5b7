// Package script is the demonstration of the gate as data: what people and the
// controller type, and what the API server must answer. The demonstration
// prints it, and the end-to-end tests run the same steps as subtests.
//
// The steps build on each other and are played in order, on an empty default
// namespace.
package script

import "fmt"

// Actor is who types a command; the names are those of world.World.
type Actor string

// The actors.
const (
	// Alice looks after etcd clusters: she may edit all kinds of Quorate, and
	// nothing else. Steps without an actor are hers.
	Alice Actor = "alice"
	// Admin may do everything that RBAC can give.
	Admin Actor = "admin"
	// Controller is the ServiceAccount that the gate exempts.
	Controller Actor = "controller"
)

// Section is a group of steps under one line of explanation.
type Section struct {
	Title string
	Line  string
	Steps []Step
}

// Step is one command and the answer that it must get.
type Step struct {
	// Name is the name of the step's subtest, unique in the script.
	Name string
	// Before happens first, in order.
	Before []Action
	As     Actor
	// Command is what is typed: kubectl and its arguments, single quotes as in
	// a shell. Input is its standard input, YAML.
	Command string
	Input   string
	Want    Want
	// Settles says that the API server may take a moment to know what the step
	// before has changed, such as a role binding: the command is repeated for up
	// to ten seconds.
	Settles bool
}

func (s Step) actor() Actor {
	if s.As == "" {
		return Alice
	}
	return s.As
}

// Want is the answer that a step must get.
type Want struct {
	// Refused says that the command fails.
	Refused bool
	// Rules are the rules that refuse: exactly these, in any order.
	Rules []string
	// Says lists what the answer contains: what was seen, what was asked for,
	// and the way out.
	Says []string
}

// allowed is the answer of a command that goes through and says these.
func allowed(says ...string) Want { return Want{Says: says} }

// refused is the answer of a command that one rule turns away.
func refused(rule string, says ...string) Want {
	return Want{Refused: true, Rules: []string{rule}, Says: says}
}

// and adds rules that refuse the same command.
func (w Want) and(rules ...string) Want {
	w.Rules = append(w.Rules[:len(w.Rules):len(w.Rules)], rules...)
	return w
}

// String is the expectation in words.
func (w Want) String() string {
	switch {
	case !w.Refused:
		return "allowed"
	case len(w.Rules) == 0:
		return "refused"
	case len(w.Rules) == 1:
		return "refused by " + w.Rules[0]
	}
	return fmt.Sprintf("refused by %s and %d more", w.Rules[0], len(w.Rules)-1)
}

// All is the whole script.
func All() []Section {
	return []Section{
		beginning, leaving, joining, bootstrap, hibernation,
		controlPlane, restore, machines, status, layers, closed,
	}
}
