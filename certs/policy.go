package certs

import (
	"errors"
	"fmt"
	"time"
)

// Policy holds the lifetimes and bounds of the certificates.
type Policy struct {
	// CALifetime is how long an authority is valid; it is replaced after two
	// thirds of it.
	CALifetime time.Duration
	// LeafLifetime is how long a leaf is valid; it is renewed after two thirds
	// of it. It is also how long a replaced authority stays trusted.
	LeafLifetime time.Duration
	// Grace is how long the trust bundle must have been in the configuration
	// before a leaf of the new authority is served: API servers keep the
	// configuration in a cache.
	Grace time.Duration
	// Skew bounds how far clocks differ and how long a write may be under way.
	// Certificates are dated back by it, and a replaced authority is trusted
	// longer by it.
	Skew time.Duration
	// Poll is how often the Secret and the configuration are read.
	Poll time.Duration
	// CallTimeout bounds each call to the API server.
	CallTimeout time.Duration
}

// DefaultPolicy rotates the authority after eight months. A leaf outlives a long
// weekend without an API server that answers.
func DefaultPolicy() Policy {
	return Policy{
		CALifetime:   365 * 24 * time.Hour,
		LeafLifetime: 7 * 24 * time.Hour,
		Grace:        time.Minute,
		Skew:         time.Hour,
		Poll:         10 * time.Second,
		CallTimeout:  5 * time.Second,
	}
}

// ErrPolicy marks durations that cannot keep a rotation free of gaps.
var ErrPolicy = errors.New("certificate policy")

// Validate reports durations under which a leaf could outlive its trust.
func (p Policy) Validate() error {
	var errs []error
	refuse := func(bad bool, why string) {
		if bad {
			errs = append(errs, fmt.Errorf("%w: %s", ErrPolicy, why))
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"CA lifetime", p.CALifetime}, {"leaf lifetime", p.LeafLifetime}, {"grace", p.Grace},
		{"skew", p.Skew}, {"poll interval", p.Poll}, {"call timeout", p.CallTimeout},
	} {
		refuse(d.value <= 0, d.name+" must be above zero")
	}
	refuse(p.Skew < 2*p.CallTimeout, "skew must be at least twice the call timeout")
	refuse(p.LeafLifetime/3 < 2*p.Poll, "a third of the leaf lifetime must hold two polls")
	refuse(p.CALifetime/3 < p.LeafLifetime+p.Grace+2*p.Skew,
		"a third of the CA lifetime must hold the leaf lifetime, the grace and twice the skew")
	return errors.Join(errs...)
}

// twoThirds is when a certificate of that validity is due.
func twoThirds(from, to time.Time) time.Time { return from.Add(to.Sub(from) / 3 * 2) }
