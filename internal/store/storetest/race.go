package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/quorate/quorate/internal/store"
)

var races int64

const (
	racers = 10
	rounds = 5
)

func racesToCreate(t *testing.T, s store.Store) {
	for round := range rounds {
		name := fmt.Sprintf("race-%d", round)
		race(t, s, name, store.ErrExists, func(data []byte) error {
			_, err := s.Create(t.Context(), name, data)
			return err
		})
	}
}

func racesToReplace(t *testing.T, s store.Store) {
	v, err := s.Create(t.Context(), "race", []byte("first"))
	for range rounds {
		want(t, "read", err, nil)
		race(t, s, "race", store.ErrChanged, func(data []byte) error {
			_, err := s.Replace(t.Context(), "race", data, v)
			return err
		})
		_, v, err = store.ReadSmall(t.Context(), s, "race")
	}
}

// race lets ten write at once: one succeeds, the others are told why not, and the
// winner's is what is stored.
func race(t *testing.T, s store.Store, name string, lost error, write func([]byte) error) {
	t.Helper()
	var all sync.WaitGroup
	errs := make([]error, racers)
	// Content that was there before would have the version of then.
	once := atomic.AddInt64(&races, 1)
	start := make(chan struct{})
	for i := range racers {
		all.Go(func() {
			<-start
			errs[i] = write(fmt.Appendf(nil, "race %d by %d", once, i))
		})
	}
	close(start)
	all.Wait()
	var winners []string
	for i, err := range errs {
		if err == nil {
			winners = append(winners, fmt.Sprintf("race %d by %d", once, i))
		} else if !errors.Is(err, lost) {
			t.Errorf("racer %d: %v, want %v", i, err, lost)
		}
	}
	if len(winners) != 1 {
		t.Fatalf("winners: %q, want one", winners)
	}
	if got := read(t, s, name); got != winners[0] {
		t.Errorf("stored is %q, and the winner %q", got, winners[0])
	}
}
