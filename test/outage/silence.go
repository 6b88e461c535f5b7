package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/restored"
)

const (
	// askEvery is short against the time that is measured, askLimit how long one answer may
	// take: an API server without etcd accepts, and hangs.
	askEvery = 20 * time.Millisecond
	askLimit = time.Second
)

// listen asks for an object, which an API server reads from etcd, until what it gives back
// is called: that is the longest time between two answers.
func (s *subject) listen(ctx context.Context) func() time.Duration {
	ctx, cancel := context.WithCancel(ctx)
	longest := make(chan time.Duration)
	go func() {
		var most time.Duration
		last := time.Now()
		for ctx.Err() == nil {
			if s.answers(ctx) {
				most, last = max(most, time.Since(last)), time.Now()
			}
			wait(ctx)
		}
		longest <- most
	}()
	return func() time.Duration {
		cancel()
		return <-longest
	}
}

func (s *subject) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return s.Client.Get(ctx, client.ObjectKey{Name: restored.System}, &corev1.Namespace{}) == nil
}

func wait(ctx context.Context) {
	timer := time.NewTimer(askEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
