package restored

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// dialTimeout is how long one API server may take to accept.
const dialTimeout = 2 * time.Second

// Config is an administrator's access to whichever API server accepts. It knows no
// Service, and is never stale.
func (w *World) Config() (*rest.Config, error) {
	var hosts []string
	var config *rest.Config
	for _, n := range w.Talos.ControlPlanes() {
		access, err := n.Admin()
		if err != nil {
			return nil, err
		}
		at, err := url.Parse(access.Config.Host)
		if err != nil {
			return nil, fmt.Errorf("read the address of the API server of %s: %w", n.Name, err)
		}
		hosts, config = append(hosts, at.Host), rest.CopyConfig(access.Config)
	}
	config.Host = "https://kubernetes:6443" // a name in every certificate
	config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return dialFirst(ctx, hosts) }
	return config, nil
}

// errNobody is the error of a world without control planes.
var errNobody = errors.New("there is no API server to ask")

func dialFirst(ctx context.Context, hosts []string) (conn net.Conn, err error) {
	err = errNobody
	for _, host := range hosts {
		if conn, err = (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", host); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (w *World) dial() (client.WithWatch, error) {
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("make a client: %w", err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return c, nil
}
