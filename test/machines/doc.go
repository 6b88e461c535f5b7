// Package machines tests the removal of TalosMachines as people meet it: Talos nodes
// with a real etcd each, their objects, Nodes and pods on a real control plane with the
// gate and the controllers, and nothing done but edits and deletions of objects. All
// tests share one world, each with a Talos cluster and a namespace of its own.
package machines
