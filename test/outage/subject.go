package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/restored"
)

// founder is the machine that etcd is recovered on, by either side.
const founder = "cp-1"

// subject is the cluster that is restored.
type subject struct {
	*restored.World
	// snapshot is the backup that the product restores, content what a hand does.
	snapshot string
	content  []byte
}

// byProduct orders a restore, and waits for its end.
func (s *subject) byProduct(ctx context.Context, round int) error {
	order := restored.Order(fmt.Sprintf("round-%d", round), restored.Backup, s.snapshot)
	if err := s.Client.Create(ctx, order); err != nil {
		return fmt.Errorf("order the restore: %w", err)
	}
	_, err := s.Completed(ctx, order.Name)
	return err
}

// byHand wipes all control planes at once and recovers etcd on one of them.
func (s *subject) byHand(ctx context.Context, _ int) (err error) {
	// Of after a recovery, or the TalosCluster in it would know another etcd's ID.
	if s.content == nil {
		if s.content, err = s.Snapshot(ctx, founder); err != nil {
			return err
		}
	}
	if err := s.Wipe(ctx, s.Talos.ControlPlanes()...); err != nil {
		return err
	}
	if err := s.Recover(ctx, founder, s.content); err != nil {
		return err
	}
	return s.Back(ctx)
}

// mend is what a person has to do after it, and is not measured: what was not wiped has
// watches of before the rewind, and hears of nothing.
func (s *subject) mend(ctx context.Context) error {
	for _, m := range s.Talos.Nodes() {
		// One that has begun with its machine lists from an API server that has too.
		err := cluster.Until(ctx, "the kube-proxy of "+m.Name+" to restart", func(context.Context) error { return m.RestartProxy() })
		if err != nil {
			return err
		}
		if !m.Worker() {
			continue
		}
		n, err := s.Node(m.Name)
		if err == nil {
			err = errors.Join(n.RestartKubelet(ctx), n.Close())
		}
		if err != nil {
			return fmt.Errorf("restart the kubelet of %s: %w", m.Name, err)
		}
	}
	return s.KillContainer()
}

// settle waits until the controllers act again on machines that are all well.
func (s *subject) settle(ctx context.Context) error {
	if err := s.ManagerReady(ctx); err != nil {
		return err
	}
	for _, m := range s.Talos.Nodes() {
		if err := s.Reconciles(ctx, m.Name); err != nil {
			return err
		}
	}
	return s.Ready(ctx)
}
