package rejoin

import (
	"context"
	"testing"
	"time"

	"github.com/quorate/quorate/guard/rejoin/tombstone"
)

// verdictOn asks as the agent does, witness by witness.
func verdictOn(t testing.TB, s *session, dir string, live Live) Verdict {
	f := Facts{Self: self(), Disk: ReadDisk(dir), Live: live}
	for {
		switch v := Judge(f); v.Action {
		case AskTombstone:
			f.Tombstone = s.tombstone(dir, f.Disk.MemberID)
		case AskLog:
			f.Logged = ReadLog(t.Context(), dir, f.Disk.MemberID)
		default:
			return v
		}
	}
}

// session is a child for many files: one that a file kills is replaced, and the
// file's answer is what the child's own parent would have made of it.
type session struct {
	t       testing.TB
	p       *process
	cancel  context.CancelFunc
	ctx     context.Context
	crashes int
}

func newSession(t testing.TB) *session {
	s := &session{t: t}
	t.Cleanup(func() { s.end(nil) })
	return s
}

func (s *session) tombstone(dir string, id ID) Witness {
	if s.p == nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		p, err := reader().start(s.ctx)
		must(s.t, err)
		s.p = p
	}
	hung := time.AfterFunc(10*time.Second, s.cancel)
	w, err := s.p.ask(tombstone.Request{Ask: tombstone.AskTombstone, DataDir: dir, ID: id, Timeout: time.Second})
	hung.Stop()
	if err != nil {
		s.crashes++
		return Witness{Answer: Unreadable, Why: s.end(err)}
	}
	return w
}

// end stops the child and says why it died of an error.
func (s *session) end(err error) string {
	if s.p == nil {
		return ""
	}
	ended := s.p.stop(err)
	why := s.p.cause(s.ctx, err, ended)
	s.cancel()
	s.p = nil
	return why
}
