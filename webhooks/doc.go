// Package webhooks is the gate: it takes an AdmissionReview and gives a verdict,
// and refuses whatever it cannot judge.
//
// A review runs through one file a step: decode (wire form to values), request
// (values to a cel.Request), scale (the parents behind a Scale), live (what the
// rules want to know of the world), identity and authorizer (who asks, and what
// they may do), the judge, warnings, and respond (verdict to wire form). Nothing
// is judged from a cache. Whatever fails on the way is a refusal with a text,
// never an allowance: an allowance needs a verdict.
//
// The package reaches the API server through two small interfaces, Live and
// AccessReviewer, and the rules through a third, Judge.
package webhooks
