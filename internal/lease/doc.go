// Package lease is the fenced lock of a Talos cluster: one change of a cluster runs
// at a time, and a process that lost its hold stops before its next act.
//
// The lock is a coordination.k8s.io Lease beside the TalosCluster. Its holder is an
// identity that is stable over restarts, so a manager that was killed takes its own
// lock again at once; each take raises the fence (leaseTransitions), so the process
// that was there before, should it still run, finds its hold lost.
//
// Holders and waiters judge by their own clocks. A holder stops with a third of the
// duration left, so their clocks may differ by that third: 10 s by default.
//
// Leases rewind with a restore of the cluster's etcd: a fence tells two holds of one
// Lease apart and orders nothing beyond it.
package lease
