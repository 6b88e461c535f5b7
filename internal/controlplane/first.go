package controlplane

import (
	"context"
	"errors"
	"time"

	"github.com/quorate/quorate/internal/etcd"
)

const (
	// nextAfter is how long one way may take before the next one is tried beside it: an
	// answer takes milliseconds, and a member that is cut off takes etcd's own 7 s.
	nextAfter = time.Second
	// viewTimeout bounds all ways together. One takes etcd.DefaultCallTimeout at most.
	viewTimeout = 15 * time.Second
)

type answer struct {
	way  int
	view *etcd.View
	err  error
}

// first is the first view that any of the ways gives, or why none did. The others are
// given up then, and have ended when it returns.
func (a *Access) first(ctx context.Context, o etcd.Options, asked [][]string) (*etcd.View, error) {
	ctx, cancel := context.WithTimeout(ctx, viewTimeout)
	answers := make(chan answer, len(asked))
	begun, ended := 0, 0
	defer func() {
		cancel()
		for ; ended < begun; ended++ {
			<-answers
		}
	}()
	errs := make([]error, len(asked))
	next := time.NewTimer(0)
	defer next.Stop()
	for ended < len(asked) {
		select {
		case got := <-answers:
			ended++
			if got.err == nil {
				return got.view, nil
			}
			errs[got.way] = got.err
			next.Reset(0)
		case <-next.C:
			if begun == len(asked) {
				continue
			}
			o.Endpoints = asked[begun]
			go func(way int, o etcd.Options) { answers <- a.ask(ctx, way, o) }(begun, o)
			begun++
			next.Reset(nextAfter)
		}
	}
	return nil, foremost(errs)
}

// foremost is what to tell of several failures: that another cluster answers, else what
// the first way met, which asked the most.
func foremost(errs []error) error {
	for _, err := range errs {
		if errors.Is(err, etcd.ErrOtherCluster) {
			return err
		}
	}
	return errs[0]
}

func (a *Access) ask(ctx context.Context, way int, o etcd.Options) answer {
	c, err := a.dial(ctx, o)
	if err != nil {
		return answer{way, nil, err}
	}
	defer func() { _ = c.Close() }() // nothing is written through it
	view, err := c.View(ctx)
	return answer{way, view, err}
}
