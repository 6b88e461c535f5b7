package certs

import (
	"crypto/x509"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The Secret's keys. The current authority has the keys that people and tools
// expect of a kubernetes.io/tls Secret.
const (
	keyNextCert = "next.crt"
	keyNextKey  = "next.key"
	keyPrevious = "previous.crt"
)

// Annotations of the Secret. Times are RFC 3339.
const (
	// AnnotationRotate asks for a new authority, whatever its value.
	AnnotationRotate = "quorate.dev/rotate"
	// AnnotationPublished is since when every authority of the Secret is known to
	// be in the webhook configuration.
	AnnotationPublished = "quorate.dev/published-at"
	// AnnotationPromoted is when the current authority replaced another.
	AnnotationPromoted = "quorate.dev/promoted-at"
)

// Authority is the content of the Secret.
type Authority struct {
	// Current signs leaves; nil when there is none that could.
	Current *CA
	// Next is trusted already and signs nothing yet.
	Next *CA
	// Previous are trusted still, without their keys.
	Previous []*x509.Certificate
	// PublishedAt is since when all of these are known to be trusted by the live
	// configuration; zero while they are not.
	PublishedAt time.Time
	// SeenAt is when this replica first read that PublishedAt; it is not stored.
	SeenAt time.Time
	// PromotedAt is when Current took over.
	PromotedAt time.Time
	// Rotate is set when somebody asks for a new authority.
	Rotate bool
}

// AuthorityOf reads the Secret, nil for an absent one. What cannot be used is
// left out: Decide then finds something to replace.
func AuthorityOf(s *corev1.Secret, now time.Time) Authority {
	if s == nil {
		return Authority{}
	}
	_, rotate := s.Annotations[AnnotationRotate]
	current, previous := currentOf(s, now)
	return Authority{
		Current:     current,
		Next:        usable(s.Data[keyNextCert], s.Data[keyNextKey], now),
		Previous:    previous,
		PublishedAt: timeOf(s.Annotations[AnnotationPublished]),
		PromotedAt:  timeOf(s.Annotations[AnnotationPromoted]),
		Rotate:      rotate,
	}
}

func usable(certPEM, keyPEM []byte, now time.Time) *CA {
	ca, err := ParseCA(certPEM, keyPEM)
	if err != nil || !now.Before(ca.Cert.NotAfter) {
		return nil
	}
	return ca
}

// currentOf also lists the replaced authorities. One that lost its key is one of
// these: leaves that it signed are still in use.
func currentOf(s *corev1.Secret, now time.Time) (*CA, []*x509.Certificate) {
	current := usable(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey], now)
	previous := parseBundle(s.Data[keyPrevious])
	if current == nil {
		previous = add(previous, parseBundle(s.Data[corev1.TLSCertKey])...)
	}
	return current, previous
}

func timeOf(annotation string) time.Time {
	t, err := time.Parse(time.RFC3339, annotation)
	if err != nil {
		return time.Time{} // a missing or damaged time is one that is set again
	}
	return t
}

// Write puts the content into a copy of the Secret; labels and annotations of
// others stay, and so does its type, which cannot be changed.
func (a Authority) Write(s *corev1.Secret) *corev1.Secret {
	out := s.DeepCopy()
	out.Data = map[string][]byte{}
	if a.Current != nil {
		out.Data[corev1.TLSCertKey], out.Data[corev1.TLSPrivateKeyKey] = a.Current.CertPEM, a.Current.KeyPEM
	}
	if a.Next != nil {
		out.Data[keyNextCert], out.Data[keyNextKey] = a.Next.CertPEM, a.Next.KeyPEM
	}
	if len(a.Previous) > 0 {
		out.Data[keyPrevious] = encodeBundle(a.Previous)
	}
	out.Annotations = a.annotations(out.Annotations)
	return out
}

func (a Authority) annotations(others map[string]string) map[string]string {
	out := maps.Clone(others)
	if out == nil {
		out = map[string]string{}
	}
	set := func(key, value string, present bool) {
		delete(out, key)
		if present {
			out[key] = value
		}
	}
	set(AnnotationPublished, a.PublishedAt.UTC().Format(time.RFC3339Nano), !a.PublishedAt.IsZero())
	set(AnnotationPromoted, a.PromotedAt.UTC().Format(time.RFC3339Nano), !a.PromotedAt.IsZero())
	set(AnnotationRotate, others[AnnotationRotate], a.Rotate)
	return out
}

// Wanted lists what the configuration should trust, the current one first.
func (a Authority) Wanted() []*x509.Certificate {
	var out []*x509.Certificate
	for _, ca := range []*CA{a.Current, a.Next} {
		if ca != nil {
			out = add(out, ca.Cert)
		}
	}
	return add(out, a.Previous...)
}

// settled reports whether the API servers can be expected to trust the current
// authority. One that has a successor has settled long ago.
func (a Authority) settled(now time.Time, p Policy) bool {
	return a.Next != nil || a.published(now, p)
}

// published waits for the grace on this replica's own clock; one that has just
// started may go by another's, which is off by the skew at most.
func (a Authority) published(now time.Time, p Policy) bool {
	return !a.PublishedAt.IsZero() && !now.Before(earlier(a.SeenAt, a.PublishedAt.Add(p.Skew)).Add(p.Grace))
}

// Accepted lists what API servers can be expected to trust. An authority that
// began anew while another's leaves were served is left out until it has settled:
// a replica that has no other leaf is better not ready yet.
func (a Authority) Accepted(live Live, now time.Time, p Policy) []*x509.Certificate {
	trusted := live.Trusted()
	if !live.Found { // nobody calls
		trusted = a.Wanted()
	}
	if a.Current == nil || len(a.Previous) == 0 || a.settled(now, p) {
		return trusted
	}
	return slices.DeleteFunc(trusted, a.Current.Cert.Equal)
}
