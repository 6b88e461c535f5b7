package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/node"
	"github.com/quorate/quorate/test/talos"
)

// Add installs one machine more and boots it: a Node of it appears, and a control
// plane joins etcd by itself, which it is not waited for.
func (f *Fleet) Add(ctx context.Context, name string, worker bool) (*talos.Node, error) {
	n, err := f.Talos.Add(name, worker)
	if err != nil {
		return nil, err
	}
	if err := n.PowerOn(); err != nil {
		return nil, err
	}
	return n, f.join(ctx, n)
}

// Reinstall wipes a machine and boots it as a new one with the old name and address. Its
// Node stays as it is.
func (f *Fleet) Reinstall(name string) error {
	n := f.Talos.Node(name)
	n.PowerOff()
	if err := n.Reinstall(); err != nil {
		return err
	}
	return n.PowerOn()
}

// Kubelet runs the pods of a machine, and perhaps of others too.
func (f *Fleet) Kubelet(name string) *node.Kubelets {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kubelets[name]
}

// join makes a Node for each machine, with its address, and a kubelet that runs the
// pods there.
func (f *Fleet) join(ctx context.Context, machines ...*talos.Node) error {
	var names []string
	for _, n := range machines {
		names = append(names, n.NodeName())
	}
	k, err := node.Start(ctx, node.Options{
		Config: f.options.Config, Dir: filepath.Join(f.Talos.Dir, "kubelets", names[0]), Nodes: names, Programs: shellAlone,
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range machines {
		f.kubelets[n.Name] = k
		if err := f.addressed(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// addressed gives the Node the address of its machine.
func (f *Fleet) addressed(ctx context.Context, n *talos.Node) error {
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.NodeName()}}
	patch := fmt.Appendf(nil, `{"status":{"addresses":[{"type":"InternalIP","address":%q},{"type":"Hostname","address":%q}]}}`, n.IP, n.NodeName())
	if err := f.Client.Status().Patch(ctx, o, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return fmt.Errorf("give Node %s its address: %w", o.Name, err)
	}
	return nil
}

// errShell says that a container wants a program of its image.
var errShell = errors.New("containers are scripts of /bin/sh here")

func shellAlone(_ string, command []string) (string, error) {
	if len(command) == 0 || command[0] != "/bin/sh" {
		return "", errShell
	}
	return command[0], nil
}
