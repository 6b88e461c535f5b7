package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/node"
)

// killer ends what runs, one thing after the other. Disks stay, whatever ends.
type killer struct {
	random *rand.Rand
	tally  *tally
	// deck holds what is left to do of a shuffled pack, so that nothing is left out
	// for long.
	deck   []attack
	starts int
}

type attack struct {
	name string
	do   func(*killer, context.Context) (detail string, err error)
}

var (
	killPod     = attack{"members killed", (*killer).killPod}
	killEtcd    = attack{"etcd containers killed", container("etcd")}
	killGuard   = attack{"guard containers killed", container("guard")}
	deletePod   = attack{"pods deleted", (*killer).deletePod}
	powerCut    = attack{"all members killed at once", (*killer).killAll}
	killManager = attack{"managers killed", (*killer).killManager}
	killServer  = attack{"API servers killed", (*killer).killServer}

	pack = []attack{killPod, killPod, killPod, killEtcd, killEtcd, killGuard, deletePod, deletePod, powerCut, killManager, killServer}
)

// How long nothing is ended.
const peaceFrom, peaceTo = 1500 * time.Millisecond, 5 * time.Second

// run ends with an error if what was ended does not start again.
func (k *killer) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(between(k.random, peaceFrom, peaceTo)):
		}
		// Not cut short: what was ended is to start again.
		if err := k.attack(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
}

func (k *killer) attack(ctx context.Context) error {
	a := k.draw()
	detail, err := a.do(k, ctx)
	switch {
	case err == nil:
		k.tally.add(a.name, detail)
	case errors.Is(err, node.ErrNoPod), errors.Is(err, node.ErrNoContainer), apierrors.IsNotFound(err):
		k.tally.add("attacks that found nothing", a.name+": "+err.Error())
	default:
		return fmt.Errorf("%s: %w", a.name, err)
	}
	return nil
}

func (k *killer) draw() attack {
	if len(k.deck) == 0 {
		k.deck = append(k.deck, pack...)
		k.random.Shuffle(len(k.deck), func(i, j int) { k.deck[i], k.deck[j] = k.deck[j], k.deck[i] })
	}
	a := k.deck[0]
	k.deck = k.deck[1:]
	return a
}

// victim is one of the members that run; the first one, which is not there, if none does.
func (k *killer) victim() string {
	var running []string
	for i := range largest {
		if shared.Nodes.Running(namespace, pod(i)) {
			running = append(running, pod(i))
		}
	}
	if len(running) == 0 {
		return pod(0)
	}
	return running[k.random.IntN(len(running))]
}

func (k *killer) killPod(context.Context) (string, error) {
	victim := k.victim()
	return victim, shared.Nodes.KillPod(namespace, victim)
}

func container(name string) func(*killer, context.Context) (string, error) {
	return func(k *killer, _ context.Context) (string, error) {
		victim := k.victim()
		return victim, shared.Nodes.KillContainer(namespace, victim, name)
	}
}

func (k *killer) deletePod(ctx context.Context) (string, error) {
	victim := k.victim()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return victim, admin.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: victim}})
}

func (k *killer) killAll(context.Context) (string, error) {
	killed := 0
	for i := range largest {
		err := shared.Nodes.KillPod(namespace, pod(i))
		if err != nil && !errors.Is(err, node.ErrNoPod) {
			return "", err
		}
		if err == nil {
			killed++
		}
	}
	if killed == 0 {
		return "", node.ErrNoPod
	}
	return fmt.Sprint(killed), nil
}

func (k *killer) killManager(ctx context.Context) (string, error) {
	before := controllers
	if err := before.Kill(); err != nil {
		return "", err
	}
	controllers = nil
	k.starts++
	next, err := shared.StartManager(ctx, fmt.Sprintf("controllers-%d", k.starts))
	if err != nil {
		return "", err
	}
	controllers = next
	return before.Name, nil
}

func (k *killer) killServer(ctx context.Context) (string, error) {
	began := time.Now()
	if err := shared.KillAPIServer(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("back after %s", time.Since(began).Round(time.Second)), nil
}
