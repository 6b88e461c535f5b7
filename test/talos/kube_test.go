package talos

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
)

// kube is three control planes and a worker with Kubernetes, for all tests that need
// it: it takes the longest of all to start. A test that changes it brings it back.
var kube struct {
	once sync.Once
	c    *Cluster
	err  error
}

func withKubernetes(t *testing.T) *Cluster {
	t.Helper()
	kube.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		began := time.Now()
		kube.c, kube.err = Start(ctx, Options{ControlPlanes: 3, Workers: 1, Kubernetes: true})
		fmt.Printf("three control planes and a worker with Kubernetes ready in %s\n", time.Since(began).Round(10*time.Millisecond))
	})
	must(t, kube.err)
	whole(t, kube.c)
	for _, n := range kube.c.ControlPlanes() {
		must(t, n.Serving(t.Context()))
	}
	return kube.c
}

func clientOf(t *testing.T, n *Node) kubernetes.Interface {
	t.Helper()
	access, err := n.Admin()
	must(t, err)
	client, err := kubernetes.NewForConfig(access.Config)
	must(t, err)
	return client
}

// byService is a client through the Service of the API server, as a node sees it.
func byService(t *testing.T, n *Node) kubernetes.Interface {
	t.Helper()
	access, err := n.AdminByService()
	must(t, err)
	client, err := kubernetes.NewForConfig(access.Config)
	must(t, err)
	return client
}
