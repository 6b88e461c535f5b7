package restored

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/quorate/quorate/test/process"
)

// supervised is a process that is started again when it ends, whatever its exit code, as a
// kubelet or a service manager does.
type supervised struct {
	start  func() (*process.Process, error)
	cancel context.CancelFunc
	ctx    context.Context
	loop   sync.WaitGroup

	mu    sync.Mutex
	now   *process.Process
	wrong error // of the last start
}

// startPause is how long it is waited before it is started again.
const startPause = 500 * time.Millisecond

// supervise starts it. An error is that of the first start.
func supervise(start func() (*process.Process, error)) (*supervised, error) {
	s := &supervised{start: start}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	var err error
	if s.now, err = start(); err != nil {
		return nil, err
	}
	s.loop.Go(s.keep)
	return s, nil
}

func (s *supervised) keep() {
	for {
		p, _ := s.current()
		select {
		case <-p.Ended():
		case <-s.ctx.Done():
			return
		}
		select {
		case <-time.After(startPause):
		case <-s.ctx.Done():
			return
		}
		s.again()
	}
}

func (s *supervised) again() {
	p, err := s.start()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong = err; err == nil {
		s.now = p
	}
}

func (s *supervised) current() (*process.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.wrong
}

// alive answers process.ErrEnded, and how it ended, while none runs.
func (s *supervised) alive() error {
	p, wrong := s.current()
	return errors.Join(p.Alive(), wrong)
}

// stop ends the process as a kubelet does. One that has just ended by itself is none that
// has to be ended.
func (s *supervised) stop() error {
	s.cancel()
	s.loop.Wait()
	p, _ := s.current()
	if err := p.Stop(syscall.SIGTERM); !errors.Is(err, process.ErrEnded) {
		return err
	}
	return nil
}
