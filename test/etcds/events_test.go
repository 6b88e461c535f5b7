package etcds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/cluster"
)

// events are what was told of the Etcd, oldest first.
func (p *plant) events(ctx context.Context) ([]string, error) {
	var list eventsv1.EventList
	if err := admin.List(ctx, &list, client.InNamespace(p.ns)); err != nil {
		return nil, err
	}
	var out []string
	for _, e := range list.Items {
		if e.Regarding.Kind == "Etcd" && e.Regarding.Name == p.name {
			out = append(out, e.Reason+": "+e.Note)
		}
	}
	return out, nil
}

// told waits for events in this order, by their beginnings: they are written after
// the status that they go with.
func (p *plant) told(beginnings ...string) {
	p.t.Helper()
	must(p.t, cluster.Until(p.t.Context(), "the events", func(ctx context.Context) error {
		story, err := p.events(ctx)
		if err != nil {
			return err
		}
		rest := story
		for _, b := range beginnings {
			i := slices.IndexFunc(rest, func(e string) bool { return strings.HasPrefix(e, b) })
			if i < 0 {
				return fmt.Errorf("%w: no event %q in its place in\n%s", errNotYet, b, strings.Join(story, "\n"))
			}
			rest = rest[i+1:]
		}
		return nil
	}))
}

// story is all that was told, once these are among it.
func (p *plant) story(beginnings ...string) []string {
	p.t.Helper()
	p.told(beginnings...)
	story, err := p.events(p.t.Context())
	must(p.t, err)
	return story
}
