package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/node/wrap"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

// members is the second act: real etcd members in pods, and the controllers at work.
// An operator edits spec.replicas, and nothing else.
type members struct {
	world   *world.World
	client  kubernetes.Interface
	tellers []*script.Transcript
	keys    *keys
	told    map[string]bool // events, by their UID
	began   time.Time
	result  script.Result
}

// scene is one step of the act.
type scene struct {
	title   string
	command string // what the operator types; none for what just happens
	want    string
	do      func(context.Context) error
}

const (
	plantNamespace = "plant"
	plantName      = "main"
	sceneTimeout   = 3 * time.Minute
)

// playMembers clears the first act's objects away, starts the controllers and plays.
func playMembers(ctx context.Context, w *world.World, tellers []*script.Transcript) (script.Result, error) {
	net.DefaultResolver = wrap.Resolver(w.Nodes.DNS()) // members have no other names
	m := &members{world: w, client: w.Client(), tellers: tellers, told: map[string]bool{}, keys: &keys{}}
	if err := m.prepare(ctx); err != nil {
		return m.result, err
	}
	controllers, err := w.StartManager(ctx, "controllers", "--gate-only=false")
	if err != nil {
		return m.result, err
	}
	defer func() { _ = controllers.Stop() }() // a second error would hide the first
	m.say("\nNow the members themselves: real etcd in pods, and the controllers that follow the spec.")
	m.began = time.Now()
	for _, s := range m.scenes() {
		if err := m.play(ctx, s); err != nil {
			return m.result, err
		}
	}
	return m.result, nil
}

func (m *members) prepare(ctx context.Context) error {
	for _, args := range [][]string{
		{"delete", "etcds", "--all", "--all-namespaces"},
		{"create", "namespace", plantNamespace},
	} {
		result, err := m.world.Kubectl(ctx, world.Admin, "", args...)
		if err != nil {
			return err
		}
		if result.Code != 0 {
			return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), cluster.ErrRefused, result.Stderr)
		}
	}
	return nil
}

func (m *members) say(line string) {
	for _, t := range m.tellers {
		_, _ = fmt.Fprintln(t.To, line) // nobody's business, as the transcript has it
	}
}

// play does one scene, and tells what the controllers did meanwhile, and when.
func (m *members) play(ctx context.Context, s scene) error {
	ctx, cancel := context.WithTimeout(ctx, sceneTimeout)
	defer cancel()
	m.say("\n" + s.title)
	if s.command != "" {
		m.say("operator$ " + s.command)
	}
	began := time.Now()
	err := s.do(ctx)
	if told := m.timeline(ctx); told != nil {
		return told
	}
	m.result.Steps++
	if err != nil {
		m.result.Wrong++
		m.say(fmt.Sprintf("✗ %s: %v", s.want, err))
		return nil
	}
	m.say(fmt.Sprintf("✓ %s, after %.1f s", s.want, time.Since(began).Seconds()))
	return nil
}
