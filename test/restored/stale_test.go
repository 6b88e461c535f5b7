package restored

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/quorate/quorate/test/cluster"
)

// stale is the worker whose kube-proxy and kubelet hear of nothing any more.
const stale = "worker-2"

// On a worker that is not wiped kube-proxy goes by what it read before the rewind, and the
// kubelet is silent: connections to the Service of the API server are refused there. The
// restore restarts the kubelet, and replaces the pod of kube-proxy; that the API is back
// mends nothing by itself.
//
// covers: C-21
func TestStaleWorker(t *testing.T) {
	var ill atomic.Bool
	d := newDaemons(t, func(machine string) {
		if err := throughService(t.Context()); machine == stale && ill.Load() && !errors.Is(err, errRefused) {
			t.Errorf("before the pod of kube-proxy is replaced: %v, want the Service to refuse", err)
		}
	})
	before := d.pod(t, stale)
	must(t, throughService(t.Context()))
	thaw, err := shared.Talos.Node(stale).StaleService()
	must(t, err)
	defer thaw()
	kubelet, err := shared.Talos.Node(stale).Pods()
	must(t, err)
	kubelet.Silence(stale)
	defer kubelet.Unsilence(stale)
	until(t, "the Service to refuse", func() bool { return errors.Is(throughService(t.Context()), errRefused) })

	ill.Store(true)
	restarts := len(shared.Calls("ServiceRestart"))
	if _, end := try(t, point{}); end != completed {
		t.Errorf("it ended %s", end)
	}
	// The restore has waited for what leads there: a minute is long.
	must(t, cluster.Until(t.Context(), "the Service of "+stale+" to lead to the API again", throughService))
	if now := d.pod(t, stale); now.UID == before.UID {
		t.Errorf("pod %s is the one of before", now.Name)
	}
	restarted := map[string]bool{}
	for _, c := range shared.Calls("ServiceRestart")[restarts:] {
		restarted[c.Node] = true
	}
	if !restarted[stale] || !restarted["worker-1"] {
		t.Errorf("the kubelets of %v were restarted, want both workers'", restarted)
	}
}

// errRefused is what the Service does where it leads nowhere.
var errRefused = errors.New("the Service refuses")

// throughService asks an API server through the stale worker's address of the Service.
func throughService(ctx context.Context) error {
	n := shared.Talos.Node(stale)
	conn, err := net.DialTimeout("tcp", n.ServiceAddress(), dialTimeout)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	_ = conn.Close() // nothing was sent
	access, err := n.AdminByService()
	if err != nil {
		return err
	}
	api, err := kubernetes.NewForConfig(access.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = api.CoreV1().Namespaces().Get(ctx, System, metav1.GetOptions{})
	return err
}
