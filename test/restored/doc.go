// Package restored is the world of a live restore: Talos machines with their API servers on
// (package talos), and Quorate installed in that very cluster. What is restored is what
// holds the CRDs, the webhook configuration, the TalosCluster, its machines, its backups
// and the manager's own Lease and token.
//
// The manager is a container of a pod on one of the machines, run by that machine's
// kubelet: it is started again when it is killed (KillContainer), and its pod by what
// plays its Deployment (replicas), which lives beside the cluster. It reaches the API
// servers through the address that stands for their Service on that machine, which can
// go stale (talos.Node.FreezeService). The folder of its jobs is an emptyDir: it outlives
// the container, and dies with the pod or the machine's /var.
//
// With Options.Outside the manager is a process on none of the machines, with a balancer
// before the API servers.
//
// What differs from an installation: one replica, no scheduler and no
// kube-controller-manager, the API servers call the webhook by an address (url) in the place
// of its Service, and the manager is given a kubeconfig file where a pod finds its account
// at a fixed path.
package restored
