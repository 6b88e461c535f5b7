package agent

import (
	"errors"
	"strings"

	"github.com/quorate/quorate/guard/rejoin"
)

// Exit codes of quorate-guard. They are part of its interface.
const (
	ExitOK                 = 0
	ExitFailed             = 1
	ExitUsage              = 2
	ExitPermanentlyRemoved = 10
	ExitCheckFailed        = 11
	ExitOtherCluster       = 12
	ExitCopiedVolume       = 13
	ExitDiskLost           = 14
	ExitBeyondReplicas     = 15
	ExitWaited             = 20
)

// ErrWaited ends a wait that has lasted for too long. The next try goes on.
var ErrWaited = errors.New("waited for too long")

// Causes are the errors that have an exit code and a name of their own. The name
// begins the one line of reason, for the controller that reads it.
var causes = []struct {
	err  error
	name string
	code int
}{
	{rejoin.ErrMemberPermanentlyRemoved, "ErrMemberPermanentlyRemoved", ExitPermanentlyRemoved},
	{rejoin.ErrMembershipCheckFailed, "ErrMembershipCheckFailed", ExitCheckFailed},
	{rejoin.ErrOtherCluster, "ErrOtherCluster", ExitOtherCluster},
	{rejoin.ErrCopiedVolume, "ErrCopiedVolume", ExitCopiedVolume},
	{rejoin.ErrDiskLost, "ErrDiskLost", ExitDiskLost},
	{rejoin.ErrBeyondReplicas, "ErrBeyondReplicas", ExitBeyondReplicas},
	{ErrWaited, "ErrWaited", ExitWaited},
	{ErrConfig, "ErrConfig", ExitUsage},
}

// Code is the exit code of an error.
func Code(err error) int {
	if err == nil {
		return ExitOK
	}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return ExitFailed
}

// Name is the error's name, such as ErrDiskLost; ErrFailed for any other.
func Name(err error) string {
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "ErrFailed"
}

// maxReason is the most that a kubelet keeps of a termination message.
const maxReason = 4096

// Reason is one line: the error's name and text.
func Reason(err error) string {
	line := Name(err) + ": " + strings.Join(strings.Fields(err.Error()), " ")
	return line[:min(len(line), maxReason)]
}

// refusal is a verdict that ends the agent.
type refusal struct{ verdict rejoin.Verdict }

func (r refusal) Error() string { return r.verdict.Reason }
func (r refusal) Unwrap() error { return r.verdict.Err }
