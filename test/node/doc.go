// Package node plays the nodes of a control plane that package cluster runs: a
// scheduler, a kubelet for each node, a kube-proxy and the cluster's DNS, in one
// process. Pods are bound, get their volumes and run as processes of this machine.
//
// A pod's address in the API is 10.77.x.y, since EndpointSlices refuse loopback
// addresses. Its processes listen at 127.77.x.y, and nothing is ever sent to the
// other. Names lead to the loopback for programs that are built with package wrap
// (see Wrapped), and for no others.
//
// Connections come from 127.0.0.1, whichever pod makes them. An etcd that checks where
// its peers come from accepts those whose certificate has localhost or 127.0.0.1
// among its names.
//
// With Options.Kubelet it is the kubelet of one node and nothing else, which can be
// restarted alone: package talos has one on each machine.
//
// There are no mount namespaces: where a container's command, arguments, environment
// or a ConfigMap's content name a path that is mounted, it is replaced by the folder
// that holds the volume. Not supported: exec probes, lifecycle hooks, resources,
// taints, security contexts, and volumes other than emptyDir, ConfigMap, Secret,
// downwardAPI, projected and PersistentVolumeClaim.
package node
