// Package cluster runs a real Kubernetes control plane on this machine's
// loopback for tests and demonstrations: etcd and kube-apiserver with RBAC,
// and kube-controller-manager where a test needs what it does.
//
// What it adds to envtest: the binaries are built when they are missing, every
// wait says what was still missing, Services lead to processes of the test (see
// Cluster.SetBackends), and no process outlives the one that started it.
//
// Nothing here runs pods: there is no node.
package cluster
