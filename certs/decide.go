package certs

import (
	"time"
)

// Step is what has to be done next for the authority. Each can be repeated, and
// each leaves a state from which Decide goes on.
type Step string

// The steps, in the order in which a rotation takes them.
const (
	// Rest: nothing to do.
	Rest Step = "rest"
	// Begin makes an authority where none can sign: at first, or when the Secret
	// was deleted, damaged or has expired.
	Begin Step = "begin"
	// Stage adds the next authority to the Secret.
	Stage Step = "stage"
	// Withdraw takes the confirmation back: somebody took an authority out of the
	// configuration, and the grace has to pass anew.
	Withdraw Step = "withdraw"
	// Publish writes the trust bundle into the webhook configuration.
	Publish Step = "publish"
	// Confirm records since when the configuration has the bundle.
	Confirm Step = "confirm"
	// Promote lets the next authority sign.
	Promote Step = "promote"
	// Retire takes the previous authority out of the bundle.
	Retire Step = "retire"
)

// maxPrevious bounds the bundle when rotations are asked for one after another.
const maxPrevious = 4

// Decide returns the next step.
func Decide(a Authority, live Live, now time.Time, p Policy) Step {
	switch {
	case a.Current == nil && a.Next == nil:
		return Begin
	case a.Current == nil:
		return Promote
	case live.Found && !live.covers(a.Wanted()) && !a.PublishedAt.IsZero():
		return Withdraw
	case live.Found && !live.is(a.Wanted()):
		return Publish
	case live.Found && a.PublishedAt.IsZero():
		return Confirm
	case a.Next != nil && a.published(now, p):
		return Promote
	case len(a.Previous) > 0 && !now.Before(a.retireAt(p)):
		return Retire
	case a.Next == nil && len(a.Previous) < maxPrevious && a.settled(now, p) && a.due(now):
		return Stage
	default:
		return Rest
	}
}

// retireAt is when no leaf of a previous authority can be in use: a replica that
// read the Secret just before the promotion may have signed one more.
func (a Authority) retireAt(p Policy) time.Time {
	return a.PromotedAt.Add(p.LeafLifetime + p.Skew)
}

func (a Authority) due(now time.Time) bool {
	return a.Rotate || !now.Before(twoThirds(a.Current.Cert.NotBefore, a.Current.Cert.NotAfter))
}

// begin replaces an authority that is gone. What the configuration trusts stays
// trusted, since replicas still serve its leaves.
func (a Authority) begin(ca *CA, live Live, now time.Time) Authority {
	old := add(a.Previous, live.any()...)
	next := Authority{Current: ca, PromotedAt: now}
	for _, c := range old {
		if now.Before(c.NotAfter) {
			next.Previous = add(next.Previous, c)
		}
	}
	return next
}

// stage adds the next authority, which answers a request for one.
func (a Authority) stage(ca *CA) Authority {
	a.Next, a.PublishedAt, a.Rotate = ca, time.Time{}, false
	return a
}

func (a Authority) withdraw() Authority {
	a.PublishedAt = time.Time{}
	return a
}

func (a Authority) confirm(now time.Time) Authority {
	a.PublishedAt = now
	return a
}

// promote keeps PublishedAt: the bundle is the same set as before.
func (a Authority) promote(now time.Time) Authority {
	previous := a.Previous
	if a.Current != nil {
		previous = add(previous, a.Current.Cert)
	}
	a.Current, a.Next, a.Previous, a.PromotedAt = a.Next, nil, previous, now
	return a
}

func (a Authority) retire() Authority {
	a.Previous = nil
	return a
}
