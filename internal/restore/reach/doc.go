// Package reach is how the job of a restore reaches nodes and etcd for real: by the
// secrets bundle and addresses alone, without Kubernetes.
package reach
