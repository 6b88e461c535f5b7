package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

const manifest = `apiVersion: v1
kind: Namespace
metadata: {name: plant}
---
apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: main, namespace: plant}
spec:
  replicas: 5
  storage: {size: 1Gi}
  etcd: {version: 3.7.3}
`

// subject is the Etcd that is measured. Its controllers run in a replica that can be
// stopped, while another one serves the gate.
type subject struct {
	*world.World
	controllers *world.Manager
}

func (s *subject) begin(ctx context.Context) error {
	s.controllers = s.Managers()[0]
	gate, err := s.StartManager(ctx, "gate", "--gate-only=true")
	if err != nil {
		return err
	}
	s.SetManagers(gate)
	return s.Apply(ctx, manifest)
}

func (s *subject) end() error {
	if s.controllers == nil {
		return nil
	}
	return s.controllers.Kill()
}

// kubectl is an administrator's.
func (s *subject) kubectl(ctx context.Context, args ...string) (string, error) {
	result, err := s.Kubectl(ctx, world.Admin, "", append([]string{"-n", "plant"}, args...)...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), cluster.ErrRefused, strings.TrimSpace(result.Stderr))
	}
	return result.Stdout, err
}

// connected is for how long etcd wants its members connected before it takes a
// removal (5 s): both sides begin after that.
const connected = 6 * time.Second

// grow brings the cluster to five members that etcd has seen for long enough.
func (s *subject) grow(ctx context.Context) error {
	if _, err := s.kubectl(ctx, "scale", "etcd", "main", "--replicas=5"); err != nil {
		return err
	}
	if err := s.members(ctx, 5); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(connected):
		return nil
	}
}

const stateOf = `{.status.observedGeneration}={.metadata.generation} {.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="ScaleOperationInProgress")].reason} {.status.replicas}`

var errNotYet = errors.New("not yet")

// members waits until the controller says that so many are there and nothing is left
// to do.
func (s *subject) members(ctx context.Context, n int) error {
	return cluster.Until(ctx, fmt.Sprintf("%d members", n), func(ctx context.Context) error {
		got, err := s.kubectl(ctx, "get", "etcd", "main", "-o", "jsonpath="+stateOf)
		if err != nil {
			return err
		}
		generations, state, _ := strings.Cut(got, " ")
		if seen, asked, _ := strings.Cut(generations, "="); seen != asked || state != fmt.Sprintf("True NoScaleOperation %d", n) {
			return fmt.Errorf("%w: %s", errNotYet, got)
		}
		return nil
	})
}

// round measures one way from five to three. The controllers have the last word after
// either.
func (s *subject) round(ctx context.Context, alone bool, do func(context.Context) error) (seconds float64, err error) {
	if err := s.grow(ctx); err != nil {
		return 0, err
	}
	if alone {
		if err := s.controllers.Stop(); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	if err := do(ctx); err != nil {
		return 0, err
	}
	seconds = time.Since(began).Seconds()
	if alone {
		if _, err := s.kubectl(ctx, "scale", "etcd", "main", "--replicas=3"); err != nil {
			return 0, err
		}
		if s.controllers, err = s.StartManager(ctx, "controllers"); err != nil {
			return 0, err
		}
	}
	return seconds, s.members(ctx, 3)
}
