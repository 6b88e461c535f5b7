package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// drain stops without losing a request. API servers learn late that this replica
// is going: until the delay is over they are served as before, but each answer
// asks them to take the next review elsewhere. A connection is never closed
// before its answer, and an idle one not until the end, since a request might
// be under way on it.
func (s *Server) drain(ended <-chan error) error {
	s.draining.Store(true)
	select {
	case err := <-ended:
		return fmt.Errorf("serve admission reviews while draining: %w", err)
	case <-s.o.Clock.After(s.o.DrainDelay):
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.o.ShutdownTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return fmt.Errorf("stop serving admission reviews: %w", errors.Join(err, s.http.Close()))
	}
	return nil
}

// lastCall makes every answer of a draining server the last of its connection
// (HTTP/2: a GOAWAY after the running streams).
func (s *Server) lastCall(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
