// Package recovercluster restores etcd without Kubernetes: from a secrets bundle, an
// object store and the addresses of the control planes. Where the store has the marker of
// a restore, that one goes on; else one is begun.
package recovercluster
