package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// timeline tells the events of the Etcd that were not told yet, with the seconds since
// the act began.
func (m *members) timeline(ctx context.Context) error {
	list, err := m.client.EventsV1().Events(plantNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("read what happened: %w", err)
	}
	slices.SortStableFunc(list.Items, func(a, b eventsv1.Event) int {
		return cmp.Compare(a.EventTime.UnixMicro(), b.EventTime.UnixMicro())
	})
	for _, e := range list.Items {
		if e.Regarding.Kind != "Etcd" || m.told[string(e.UID)] {
			continue
		}
		m.told[string(e.UID)] = true
		m.say(fmt.Sprintf("  %6.1f s  %-22s %s", e.EventTime.Sub(m.began).Seconds(), e.Reason, e.Note))
	}
	return nil
}
