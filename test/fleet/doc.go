// Package fleet runs Talos machines as Quorate has them to look after: Talos nodes with
// a real etcd each (package talos), a Node and a kubelet for each of them (package node)
// on a control plane that is already there, and the objects that declare them.
//
// The Nodes' control plane is not the one that the etcds belong to: no kube-apiserver
// runs on the machines.
package fleet
