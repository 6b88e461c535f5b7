package machines

import (
	"errors"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/node"
)

// join makes a Node for each Talos node, with its address, and a kubelet that runs the
// pods there.
func (f *fleet) join() {
	f.t.Helper()
	var names []string
	for _, n := range f.talos.Nodes() {
		if !f.without(n.Name) {
			names = append(names, n.NodeName())
		}
	}
	k, err := node.Start(f.t.Context(), node.Options{
		Config: shared.AdminConfig(), Dir: filepath.Join(f.talos.Dir, "kubelets"), Nodes: names, Programs: shellAlone,
	})
	must(f.t, err)
	f.kubelets = k
	f.t.Cleanup(func() { must(f.t, k.Stop()) })
	for _, n := range f.talos.Nodes() {
		if !f.without(n.Name) {
			f.nodeAt(n.NodeName(), n.IP)
		}
	}
}

var errShell = errors.New("containers are scripts here")

func shellAlone(_ string, command []string) (string, error) {
	if len(command) == 0 || command[0] != "/bin/sh" {
		return "", errShell
	}
	return command[0], nil
}

// nodeAt gives the Node the address of its machine.
func (f *fleet) nodeAt(name, ip string) {
	f.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"fleet":%q}},"status":{"addresses":[{"type":"InternalIP","address":%q},{"type":"Hostname","address":%q}]}}`, f.ns, ip, name)
	for _, to := range []client.SubResourceWriter{nil, admin.Status()} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		var err error
		if to == nil {
			err = admin.Patch(f.t.Context(), n, client.RawPatch("application/merge-patch+json", patch))
		} else {
			err = to.Patch(f.t.Context(), n, client.RawPatch("application/merge-patch+json", patch))
		}
		must(f.t, err)
	}
}
