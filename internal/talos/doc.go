// Package talos is the only door of the product to the Talos machine API: a client
// of one node, made from a cluster's secrets bundle. It decides nothing. It gives
// each call a deadline that fits the server's work, says once what kind of failure
// a failure is, and lets through the calls of its list alone.
//
// The machine API tells neither the etcd cluster's ID (no response carries the
// header of etcd) nor a revision. What a node says of its cluster is the ID of the
// Talos cluster: see [Node.VerifyCluster].
package talos
