package certs

import (
	"crypto/x509"
	"testing"
)

func TestDecide(t *testing.T) {
	one, two, old := ca(t, -2, 298), ca(t, 200, 500), ca(t, -250, 50)
	both := set(one, two)
	published := Authority{Current: one, PublishedAt: at(0), SeenAt: at(0)}
	staged := Authority{Current: one, Next: two, PublishedAt: at(201), SeenAt: at(201)}
	promoted := Authority{Current: two, Previous: set(one), PublishedAt: at(201), SeenAt: at(201), PromotedAt: at(202)}
	asked := func(a Authority) Authority { a.Rotate = true; return a }
	four := Authority{Current: one, Previous: set(old, two, ca(t, 0, 9), ca(t, 0, 8)), PublishedAt: at(0), SeenAt: at(0), PromotedAt: at(0)}

	for _, c := range []struct {
		name string
		a    Authority
		live Live
		hour float64
		want Step
	}{
		{"nothing at all", Authority{}, Live{}, 0, Begin},
		{"the secret is gone, its bundle is still live", Authority{}, liveWith(set(old)), 0, Begin},
		{"only the staged one can sign", Authority{Next: two}, liveWith(both), 201, Promote},
		{"a fresh authority is not in the configuration", Authority{Current: one}, liveWith(nil), 0, Publish},
		{"one of two entries lacks it", Authority{Current: one}, liveWith(set(one), nil), 0, Publish},
		{"a stranger is in the configuration", published, liveWith(set(one, old)), 5, Publish},
		{"in the configuration, not recorded", Authority{Current: one}, liveWith(set(one)), 0, Confirm},
		{"a configuration without entries trusts no less", Authority{Current: one}, liveWith(), 0, Confirm},
		{"nothing to do", published, liveWith(set(one)), 5, Rest},
		{"no configuration to publish to", Authority{Current: one}, Live{}, 5, Rest},
		{"recorded, and then taken out by somebody", published, liveWith(nil), 5, Withdraw},
		{"staged, recorded, and then taken out by somebody", staged, liveWith(set(one)), 201.5, Withdraw},
		{"just before two thirds", published, liveWith(set(one)), 197.9, Rest},
		{"two thirds of the lifetime", published, liveWith(set(one)), 198, Stage},
		{"due, but its own grace is not over", Authority{Current: one, PublishedAt: at(198), SeenAt: at(198)}, liveWith(set(one)), 198.5, Rest},
		{"asked for", asked(published), liveWith(set(one)), 5, Stage},
		{"asked for while a rotation runs", asked(staged), liveWith(both), 201.5, Rest},
		{"staged, not in the configuration", Authority{Current: one, Next: two}, liveWith(set(one)), 200, Publish},
		{"staged and in the configuration", Authority{Current: one, Next: two}, liveWith(both), 200, Confirm},
		{"the order in the bundle does not matter", Authority{Current: one, Next: two}, liveWith(set(two, one)), 200, Confirm},
		{"the grace runs", staged, liveWith(both), 201.9, Rest},
		{"the grace is over", staged, liveWith(both), 202, Promote},
		{"the grace counts from when this replica saw it", Authority{Current: one, Next: two, PublishedAt: at(200), SeenAt: at(201)}, liveWith(both), 201.9, Rest},
		{"or, for one that has just started, from well after it was recorded", Authority{Current: one, Next: two, PublishedAt: at(198), SeenAt: at(201)}, liveWith(both), 201, Promote},
		{"a leaf of the previous one may be in use", promoted, liveWith(both), 233.9, Rest},
		{"no leaf of the previous one can be in use", promoted, liveWith(both), 234, Retire},
		{"retired, still in the configuration", Authority{Current: two, PublishedAt: at(201), SeenAt: at(201)}, liveWith(both), 234, Publish},
		{"asked for again while the previous one is trusted", asked(promoted), liveWith(both), 210, Stage},
		{"asked for too often", asked(four), liveWith(four.Wanted()), 10, Rest},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Decide(c.a, c.live, at(c.hour), testPolicy()); got != c.want {
				t.Errorf("step = %s, want %s", got, c.want)
			}
		})
	}
}

func TestSignNow(t *testing.T) {
	one, two := ca(t, -2, 298), ca(t, 200, 500)
	stranger := ca(t, -2, 298)
	published := Authority{Current: one, PublishedAt: at(0), SeenAt: at(0)}
	promoted := Authority{Current: two, Previous: set(one), PublishedAt: at(201), SeenAt: at(201)}
	begun := Authority{Current: two, Previous: set(one)}
	seen := Authority{Current: two, Previous: set(one), PublishedAt: at(204), SeenAt: at(204)}

	for _, c := range []struct {
		name string
		held *x509.Certificate
		a    Authority
		live []*x509.Certificate
		hour float64
		want bool
	}{
		{"no authority to sign with", nil, Authority{}, nil, 0, false},
		{"no leaf yet", nil, published, set(one), 0, true},
		{"no leaf yet, and not even trusted: readiness waits for that", nil, begun, nil, 0, true},
		{"fresh", leafOf(t, one, 0, 30), published, set(one), 19.9, false},
		{"two thirds of the lifetime", leafOf(t, one, 0, 30), published, set(one), 20, true},
		{"the authority has a successor: no change yet", leafOf(t, one, 195, 225), Authority{Current: one, Next: two}, set(one, two), 201, false},
		{"the successor signs now", leafOf(t, one, 195, 225), promoted, set(one, two), 202, true},
		{"an authority that began anew is not in the configuration yet", leafOf(t, one, 195, 225), begun, set(one), 203, false},
		{"nor is it while the grace runs", leafOf(t, one, 195, 225), seen, set(one, two), 204.9, false},
		{"and then it is", leafOf(t, one, 195, 225), seen, set(one, two), 205, true},
		{"somebody took it out of the configuration meanwhile", leafOf(t, one, 195, 225), seen, set(one), 205, false},
		{"expired by a clock that may be off", leafOf(t, one, 173, 203), seen, set(one, two), 204.9, false},
		{"expired by any clock", leafOf(t, one, 172, 202), seen, set(one, two), 204.1, true},
		{"expired, and the other is not trusted either", leafOf(t, one, 170, 200), begun, set(one), 203, false},
		{"nobody trusts the leaf any more", leafOf(t, stranger, 195, 225), seen, set(two), 204.1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := SignNow(c.held, c.a, c.live, at(c.hour), testPolicy()); got != c.want {
				t.Errorf("sign = %t, want %t", got, c.want)
			}
		})
	}
}

func TestBeginKeepsWhatReplicasMayServe(t *testing.T) {
	fresh, live, expired, previous := ca(t, 0, 300), ca(t, -100, 200), ca(t, -400, -100), ca(t, -200, 100)
	a := Authority{Previous: set(previous)}.begin(fresh, liveWith(set(live, expired), set(live)), at(0))
	if want := set(fresh, previous, live); !sameSet(a.Wanted(), want) {
		t.Errorf("wanted = %d authorities, want the fresh, the previous and the live one", len(a.Wanted()))
	}
	if a.Current != fresh || !a.PromotedAt.Equal(at(0)) || !a.PublishedAt.IsZero() {
		t.Errorf("authority = %+v, want the fresh one current since now and unpublished", a)
	}
}

func TestPolicyValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Policy)
		want   string
	}{
		{"default", func(*Policy) {}, ""},
		{"zero", func(p *Policy) { p.Grace = 0 }, "certificate policy: grace must be above zero"},
		{"skew", func(p *Policy) { p.CallTimeout = p.Skew }, "certificate policy: skew must be at least twice the call timeout"},
		{"poll", func(p *Policy) { p.Poll = 30 * 60 * 1e9; p.LeafLifetime = 3 * 59 * 60 * 1e9 }, "certificate policy: a third of the leaf lifetime must hold two polls"},
		{"lifetimes", func(p *Policy) { p.CALifetime = 3 * p.LeafLifetime }, "certificate policy: a third of the CA lifetime must hold the leaf lifetime, the grace and twice the skew"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := DefaultPolicy()
			c.change(&p)
			got := ""
			if err := p.Validate(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("error = %q, want %q", got, c.want)
			}
		})
	}
}
