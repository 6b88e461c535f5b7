package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/quorate/quorate/test/fleet"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

// show is the demonstration while it is played.
type show struct {
	world       *world.World
	fleet       *fleet.Fleet
	transcripts []*script.Transcript
	player      *script.Player
	result      script.Result
	began       time.Time
}

func newShow(w *world.World, f *fleet.Fleet, transcripts ...*script.Transcript) *show {
	s := &show{world: w, fleet: f, transcripts: transcripts, player: &script.Player{Stage: w}, began: time.Now()}
	for _, t := range transcripts {
		s.player.Tellers = append(s.player.Tellers, t)
	}
	return s
}

// scene is a part of the demonstration under one line of explanation.
type scene struct {
	title, line string
	beats       []beat
}

// beat is one thing that is played, and checked: it answers what is wrong. An error
// means that the demonstration cannot go on.
type beat interface {
	play(context.Context, *show) (problems []string, err error)
}

// beatTimeout bounds one of them.
const beatTimeout = 2 * time.Minute

func (s *show) play(ctx context.Context, scenes []scene) error {
	for i, one := range scenes {
		for _, t := range s.transcripts {
			t.Section(i+1, script.Section{Title: one.title, Line: one.line})
		}
		for _, b := range one.beats {
			if err := s.beat(ctx, b); err != nil {
				return fmt.Errorf("%s: %w", one.title, err)
			}
		}
	}
	return nil
}

func (s *show) beat(ctx context.Context, b beat) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	problems, err := b.play(ctx, s)
	if err != nil {
		return err
	}
	s.result.Steps++
	if len(problems) > 0 {
		s.result.Wrong++
	}
	return nil
}

// types is a beat that somebody types.
type types script.Step

func (t types) play(ctx context.Context, s *show) ([]string, error) {
	return s.player.Step(ctx, script.Step(t))
}

// happens is what is done to the machines between two commands.
type happens struct {
	what string
	do   func(context.Context) error
}

// String tells it.
func (h happens) String() string { return h.what }

// Do does it.
func (h happens) Do(ctx context.Context, _ script.Stage) error { return h.do(ctx) }

func (s *show) happen(ctx context.Context, h happens) error {
	for _, t := range s.transcripts {
		t.Happens(h)
	}
	if err := h.do(ctx); err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	return nil
}

// whole writes a line at a time, whoever writes: the conditions are told while a
// command runs.
type whole struct {
	mu sync.Mutex
	to io.Writer
}

func (w *whole) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(line)
}
