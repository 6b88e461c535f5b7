// Package restore is the live restore of a cluster's etcd, as far as it needs no
// Kubernetes: the marker that outlives the cluster it rewinds, the folder that outlives
// the container, and the job that wipes, recovers and completes etcd. What the job does
// next is decided in package restoring.
package restore
