package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// timeline tells conditions as they change.
type timeline struct {
	show *show
	mu   sync.Mutex
	said map[string]string // by object and condition
}

// follow tells them until it is ended.
func (s *show) follow(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	t := &timeline{show: s, said: map[string]string{}}
	var following sync.WaitGroup
	end = func() {
		cancel()
		following.Wait()
	}
	for _, list := range []client.ObjectList{&v1alpha1.TalosMachineList{}, &v1alpha1.TalosClusterList{}} {
		w, err := s.fleet.Client.Watch(ctx, list, client.InNamespace(namespace))
		if err != nil {
			end()
			return nil, fmt.Errorf("follow the conditions: %w", err)
		}
		following.Go(func() { t.read(ctx, w) })
	}
	return end, nil
}

func (t *timeline) read(ctx context.Context, w watch.Interface) {
	defer w.Stop()
	for event := range w.ResultChan() {
		t.note(event)
	}
	if ctx.Err() == nil {
		t.say(clusterName, "the API server ended the watch: what follows is not told any more")
	}
}

func (t *timeline) note(event watch.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch o := event.Object.(type) {
	case *v1alpha1.TalosMachine:
		if event.Type == watch.Deleted {
			t.say(o.Name, "is gone")
			t.forget(o.Name)
			return
		}
		t.conditions(o.Name, o.Status.Conditions, v1alpha1.ConditionReady, v1alpha1.ConditionRemoval)
	case *v1alpha1.TalosCluster:
		t.conditions(o.Name, o.Status.Conditions, v1alpha1.ConditionQuorate, v1alpha1.ConditionReady)
	}
}

// conditions tells those of these types that say something new.
func (t *timeline) conditions(name string, all []metav1.Condition, kinds ...string) {
	for _, c := range all {
		for _, kind := range kinds {
			if c.Type == kind {
				t.condition(name, c)
			}
		}
	}
}

func (t *timeline) condition(name string, c metav1.Condition) {
	key, now := name+"/"+c.Type, string(c.Status)+c.Reason+c.Message
	if t.said[key] == now {
		return
	}
	t.said[key] = now
	t.say(name, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
}

// forget lets another object of the name begin anew.
func (t *timeline) forget(name string) {
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionRemoval} {
		delete(t.said, name+"/"+kind)
	}
}

func (t *timeline) say(name, text string) {
	line := fmt.Sprintf("%5.1f s  %-8s %s", time.Since(t.show.began).Seconds(), name, text)
	for _, transcript := range t.show.transcripts {
		transcript.Meanwhile(line)
	}
}
