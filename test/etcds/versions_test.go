package etcds

import (
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

// older are the other supported releases of etcd.
var older = []string{"3.5.35", "3.6.16"}

// A cluster of an older release grows and shrinks as one of the newest does; its own
// tombstones, or their absence, are read by the same agent.
func TestOlderReleases(t *testing.T) {
	t.Parallel()
	for _, release := range older {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t, 1, func(e *v1alpha1.Etcd) { e.Spec.Etcd.Version = release })
			p.put("one")
			p.scale(3)
			p.settled(3)
			p.want(3)
			p.put("three")
			p.lead(2)
			p.scale(1)
			p.settled(1)
			p.want(1)
			p.runs(release)
			p.kept()
		})
	}
}

// runs wants the first member to be of a release.
func (p *plant) runs(release string) {
	p.t.Helper()
	status, err := p.client().Status(p.t.Context(), p.member(0))
	must(p.t, err)
	if status.Version != release {
		p.t.Errorf("%s runs etcd %s, want %s", p.pod(0), status.Version, release)
	}
}
