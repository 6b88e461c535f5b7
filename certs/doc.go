// Package certs keeps the webhook's serving certificates.
//
// A certificate authority lives in one Secret. Every replica reads it, signs a
// leaf of its own in memory and serves it through tls.Config.GetCertificate, so
// a renewal needs neither a restart nor a mounted volume. An authority is
// replaced with overlap: the next one is trusted by the API servers before
// anything is signed with it, and the previous one is trusted until no leaf of
// its can be in use.
//
// Decisions (Decide, SignNow) are pure. The Keeper acts on them, and every write
// is a compare-and-swap, so that any number of replicas may do it at once.
package certs
