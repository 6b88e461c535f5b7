// Package controlplane reaches the control plane of a TalosCluster as it is now: its
// secrets bundle, its machines, their machine API and their etcd. Nothing is read from
// a cache of objects, and nothing is decided here.
package controlplane
