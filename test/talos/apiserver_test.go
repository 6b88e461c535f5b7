package talos

import (
	"bytes"
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/cluster"
)

// TestAPIServersAreOne: what one has, all have: objects, the keys of Secrets and of
// tokens, and an administrator's certificate.
func TestAPIServersAreOne(t *testing.T) {
	c := withKubernetes(t)
	first, second := clientOf(t, c.Node("cp-1")), clientOf(t, c.Node("cp-2"))
	ctx := within(t, time.Minute)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Data: map[string][]byte{"word": []byte("plain words")}}
	_, err := first.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{})
	must(t, err)
	found, err := second.CoreV1().Secrets("default").Get(ctx, "shared", metav1.GetOptions{})
	must(t, err)
	if got := string(found.Data["word"]); got != "plain words" {
		t.Errorf("the Secret is %q elsewhere", got)
	}
	kept, err := etcdOf(t, c.Node("cp-3")).Get(ctx, "/registry/secrets/default/shared")
	must(t, err)
	if len(kept.Kvs) != 1 || !bytes.HasPrefix(kept.Kvs[0].Value, []byte("k8s:enc:secretbox:v1:key:")) {
		t.Errorf("etcd has %q", kept.Kvs)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "somebody"}}
	_, err = first.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{})
	must(t, err)
	token, err := first.CoreV1().ServiceAccounts("default").CreateToken(ctx, "somebody", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}
	review, err = second.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	must(t, err)
	if user := review.Status.User.Username; user != "system:serviceaccount:default:somebody" {
		t.Errorf("the token is %q elsewhere: %+v", user, review.Status)
	}
}

// TestAPIServerOfAWorker: there is none.
func TestAPIServerOfAWorker(t *testing.T) {
	n := withKubernetes(t).Node("worker-1")
	if _, err := n.Admin(); !errors.Is(err, errNoAPIServer) || n.APIServerPID() != 0 {
		t.Errorf("a worker's API server: %v, %d", err, n.APIServerPID())
	}
}

// TestAPIServerStaysWhileEtcdIsIll: the same process is there before, meanwhile, when
// it answers nothing, and after.
func TestAPIServerStaysWhileEtcdIsIll(t *testing.T) {
	n := withKubernetes(t).Node("cp-2")
	before := n.APIServerPID()
	signalEtcd(t, n, syscall.SIGSTOP)
	resumed := false
	resume := func() {
		if !resumed {
			signalEtcd(t, n, syscall.SIGCONT)
		}
		resumed = true
	}
	defer resume()
	until(t, "etcd to be ill", func() bool { return !healthyEtcd(t, n) })
	must(t, cluster.Until(t.Context(), "the API server to answer nothing", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := clientOf(t, n).CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return not(err)
	}))
	if pid := n.APIServerPID(); pid != before || before == 0 {
		t.Errorf("the API server is %d, was %d", pid, before)
	}
	resume()
	must(t, n.Voting(t.Context()))
	must(t, n.Serving(t.Context()))
	if pid := n.APIServerPID(); pid != before {
		t.Errorf("the API server is %d, was %d", pid, before)
	}
}

func signalEtcd(t *testing.T, n *Node, signal syscall.Signal) {
	t.Helper()
	b, err := n.current()
	must(t, err)
	e := b.etcd.Load()
	e.mu.Lock()
	defer e.mu.Unlock()
	must(t, e.server.Signal(signal))
}

func healthyEtcd(t *testing.T, n *Node) bool {
	t.Helper()
	info, err := admin(t, n).ServiceInfo(within(t, 5*time.Second), "etcd")
	must(t, err)
	return info[0].Service.Health.Healthy
}

// TestAPIServerGoesWithEtcd: after a leave it is not there, others serve on, and it
// comes again when the node has joined again.
func TestAPIServerGoesWithEtcd(t *testing.T) {
	c := withKubernetes(t)
	n := c.Node("cp-3")
	must(t, leave(t, n, time.Minute))
	until(t, "the API server to be gone", func() bool { return n.APIServerPID() == 0 })
	if _, err := net.DialTimeout("tcp", n.kubeAddress(), time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("its port: %v", err)
	}
	_, err := clientOf(t, c.Node("cp-1")).CoreV1().Namespaces().Get(within(t, 10*time.Second), "default", metav1.GetOptions{})
	must(t, err)
	must(t, n.Reboot(within(t, time.Minute)))
	must(t, n.Voting(t.Context()))
	must(t, n.Serving(t.Context()))
}

// TestAPIServerComesWithEtcd: not before a bootstrap, and again after its process or
// the machine has ended.
func TestAPIServerComesWithEtcd(t *testing.T) {
	c, err := New(t.Context(), Options{ControlPlanes: 1, Kubernetes: true, Bundle: shared.Bundle()})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	n := c.Node("cp-1")
	must(t, n.PowerOn())
	until(t, "etcd to wait", func() bool { return n.Service("etcd") == statePreparing })
	if n.APIServerPID() != 0 {
		t.Error("an API server runs before a bootstrap")
	}
	must(t, bootstrap(t, n))
	must(t, n.Serving(t.Context()))
	first := n.APIServerPID()
	must(t, syscall.Kill(first, syscall.SIGKILL))
	until(t, "another process", func() bool { pid := n.APIServerPID(); return pid != 0 && pid != first })
	must(t, n.Serving(t.Context()))
	n.PowerOff()
	if n.APIServerPID() != 0 {
		t.Error("an API server runs on a machine that is off")
	}
	must(t, n.PowerOn())
	must(t, n.Serving(t.Context()))
}

// TestAPIServerWanted: by what the service etcd is.
func TestAPIServerWanted(t *testing.T) {
	for _, c := range []struct {
		etcd              string
		healthy, is, want bool
	}{
		{statePreparing, false, false, false}, {stateRunning, false, false, false}, {stateRunning, true, false, true},
		{stateRunning, false, true, true}, {stateWaiting, false, true, false}, {stateFinished, true, true, false}, {stateFailed, false, true, false},
	} {
		if got := apiServerWanted(c.etcd, c.healthy, c.is); got != c.want {
			t.Errorf("etcd %s, healthy %t, there %t: wanted %t", c.etcd, c.healthy, c.is, got)
		}
	}
}
