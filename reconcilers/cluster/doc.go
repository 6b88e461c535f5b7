// Package cluster follows a TalosCluster: it reports its etcd and who holds its lock,
// confirms removals in the ledger, tells of etcd members that no machine explains, and
// removes again what the ledger knows as removed. It removes nothing else, and reaches
// no call that wipes a machine.
package cluster
