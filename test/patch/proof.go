package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/test/cluster"
)

// errEffect says that a side is not what its name says.
var errEffect = errors.New("not in effect as it should be")

// settle waits until exactly these refuse, each in its own namespace.
func settle(ctx context.Context, what string, sides []*side, active ...refuser) error {
	return cluster.Until(ctx, what, func(ctx context.Context) error {
		for _, s := range sides {
			want := s.refuses
			if !slices.Contains(active, want) {
				want = nobody
			}
			if err := s.refused(ctx, want); err != nil {
				return err
			}
		}
		if !slices.Contains(active, policies) { // the webhook that allows everything comes last
			return nil
		}
		return proven(ctx, sides)
	})
}

// proven asks each side for what the rules forbid and for what they permit, by
// dry runs.
func proven(ctx context.Context, sides []*side) error {
	for _, s := range sides {
		if err := s.refused(ctx, s.refuses); err != nil {
			return err
		}
		if err := s.warned(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) refused(ctx context.Context, want refuser) error {
	err := s.dryRun(ctx, forbidden).Error()
	if got := refuserOf(err); got != want {
		return fmt.Errorf("%s: %w: a forbidden change is refused by %s and not by %s: %v", s.Name, errEffect, got, want, err)
	}
	return nil
}

func (s *side) warned(ctx context.Context) error {
	result := s.dryRun(ctx, permitted[0])
	if err := result.Error(); err != nil {
		return fmt.Errorf("%s: %w: a permitted change is refused: %w", s.Name, errEffect, err)
	}
	var warned bool
	for _, w := range result.Warnings() {
		warned = warned || w.Text == asked
	}
	if warned != s.warns {
		return fmt.Errorf("%s: %w: the webhook that allows everything was asked: %t", s.Name, errEffect, warned)
	}
	return nil
}

func (s *side) dryRun(ctx context.Context, patch string) rest.Result {
	return s.request(s.person, patch).Param("dryRun", "All").Do(ctx)
}

// refuserOf tells by the message: nothing else on the wire tells a policy's
// refusal from a webhook's.
func refuserOf(err error) refuser {
	switch {
	case err == nil:
		return nobody
	case !strings.Contains(err.Error(), "(scale-out-blocked)"):
		return unknown
	case strings.Contains(err.Error(), `admission webhook "gate.quorate.dev"`):
		return gate
	case strings.Contains(err.Error(), "ValidatingAdmissionPolicy '"):
		return policies
	}
	return unknown
}
