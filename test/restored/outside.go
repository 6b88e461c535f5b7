package restored

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/process"
)

// outside is a manager that runs on none of the machines: a process beside the cluster,
// which reaches the API servers by a balancer before them, as the controller's account, and
// is started again whenever it ends.
type outside struct {
	balancer    *balancer
	runs        *supervised
	log, probes string
}

func (w *World) startOutside(ctx context.Context) (err error) {
	o := &outside{log: filepath.Join(w.Talos.Dir, "manager.log")}
	w.outside = o
	if o.balancer, err = balance(w.hosts); err != nil {
		return err
	}
	kubeconfig, err := w.accountConfig(ctx, o.balancer.address())
	if err != nil {
		return err
	}
	if o.probes, err = freeAddress(); err != nil {
		return err
	}
	jobs := filepath.Join(w.Talos.Dir, "manager")
	o.runs, err = supervise(func() (*process.Process, error) {
		return process.Start(o.log, w.binary, append([]string{
			"manager", "--kubeconfig=" + kubeconfig, "--webhook-bind-address=" + w.webhook, "--ip-addresses=127.0.0.1", "--node-name=",
			"--health-bind-address=" + o.probes, "--metrics-bind-address=127.0.0.1:0", "--drain-delay=1s", "--certificate-poll=1s",
			"--restore-dir=" + filepath.Join(jobs, "restores"), "--restore-keys-dir=" + filepath.Join(jobs, "keys"),
		}, w.options.ManagerFlags...)...)
	})
	if err != nil {
		return err
	}
	return cluster.Until(ctx, "the manager to be ready", o.ready)
}

// accountConfig writes a kubeconfig of the controller's account.
func (w *World) accountConfig(ctx context.Context, address string) (path string, err error) {
	config, err := w.Config()
	if err != nil {
		return "", err
	}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 3600)}}
	user := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: System, Name: account}}
	if err := w.Client.SubResource("token").Create(ctx, user, token); err != nil {
		return "", fmt.Errorf("make a token of the controller's account: %w", err)
	}
	return writeKubeconfig(filepath.Join(w.Talos.Dir, "manager.kubeconfig"),
		&clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: config.CAData, TLSServerName: "kubernetes"},
		&clientcmdapi.AuthInfo{Token: token.Status.Token})
}

// ready asks the process itself: it is in no EndpointSlice.
func (o *outside) ready(ctx context.Context) error {
	if err := o.runs.alive(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.probes+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask the manager: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask the manager: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // nothing was written
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: the manager answers %s", errNotYet, response.Status)
	}
	return nil
}

func (o *outside) logs() string {
	content, err := os.ReadFile(o.log)
	return string(content) + errText(err)
}

func errText(err error) string {
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return err.Error()
}

// stop ends the process as a kubelet does.
func (o *outside) stop() (err error) {
	if o.runs != nil {
		err = o.runs.stop()
	}
	if o.balancer != nil {
		err = errors.Join(err, o.balancer.stop())
	}
	return err
}

// hosts are the addresses of all API servers.
func (w *World) hosts() (out []string) {
	for _, n := range w.Talos.ControlPlanes() {
		out = append(out, net.JoinHostPort(n.IP, "6443"))
	}
	return out
}
