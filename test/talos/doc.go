// Package talos runs Talos nodes for tests: the machine API of Talos 1.13.9, mutual TLS
// under a real secrets bundle, in front of a real etcd process on each control plane.
// It behaves as the Talos source does, quicker where Timing says so.
//
// A node has a disk (EPHEMERAL, STATE, META as folders, and with Options.Volumes ETCD, CRI,
// KUBELET, LOG) that outlives its boots, and a boot: /var, CRI and the clock's sync come
// after the first answer of the API (Timing.Mount, Timing.CRI, and the faults WithoutVar,
// WithoutCRI, WithoutTime), services start and stop in order, and there are COSI resources,
// events, the sequence that runs. Faults, made with Silent, Slow, Answer and the like,
// strike the machine API of one node, and so does a wrong clock (SetClock).
//
// With Options.Kubernetes a real kube-apiserver runs on each control plane, on its own
// etcd and with the bundle's authorities and keys. It comes and goes with the service
// etcd as Talos's static pod does. EndpointSlices refuse loopback addresses, so they
// have 10.x.y.z for a node at 127.x.y.z. A kube-proxy on each node lets an address of
// its own stand for the Service of the API server (ServiceAddress): it follows the
// EndpointSlices by a real informer, and so is stale when that is, or when it is
// frozen. It knows no other Service. The kubelet on each node is package node's: it makes
// the Node, reports it and its Lease, and runs the pods that are bound to it; their
// files are in EPHEMERAL, and they are killed when the machine goes down. Kubelet and
// kube-proxy reach the API servers by the node's KubePrism, as an administrator. No
// kube-controller-manager and no scheduler runs: nobody makes ServiceAccounts, binds
// pods or marks a node NotReady.
//
// Modelled calls: Version, Hostname, Read (the boot ID alone), List (/var and
// /system/state alone), ServiceList, ServiceStop (refused), ServiceRestart (the kubelet
// alone), Events, Bootstrap, EtcdRecover, EtcdMemberList, EtcdLeaveCluster,
// EtcdRemoveMemberByID, EtcdForfeitLeadership, EtcdStatus, EtcdAlarmList,
// EtcdAlarmDisarm, EtcdDefragment, EtcdSnapshot, MetaWrite, MetaDelete, Reboot,
// Shutdown, Reset, and COSI's Get, List and Watch. Every other call answers
// Unimplemented.
//
// A recovery runs the program etcdutl where Talos has its library in its first process.
// A snapshot that crashes it crashes the machine, which boots again.
//
// Not modelled either: the proxy between nodes (a call is about the node that is asked,
// whatever its metadata say), maintenance mode (a node whose STATE was wiped is on and
// refuses connections), user disks and volumes besides the system's, encryption of
// disks, the size of META, a List that crosses from one partition into another, wrong
// clocks of etcd, API servers and pods, and what Talos does after a bootstrap that failed
// but to show a failed service.
package talos
