package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/api/v1alpha1"
)

// ringTimeout bounds one question to one API server: the next one waits behind it.
const ringTimeout = 10 * time.Second

// defaultAPIPort is Kubernetes' own, on Talos too.
const defaultAPIPort = "6443"

// apiServer is one of the API servers that may answer.
type apiServer struct {
	url string
	get func(ctx context.Context, name types.NamespacedName) (*v1alpha1.TalosOperation, error)
}

// ring are the configuration's API server, then those of the other control planes.
// Why says why there are no others.
func ring(config *rest.Config, hosts []string) (servers []apiServer, why string, err error) {
	original, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, "", fmt.Errorf("read the address of the API server: %w", err)
	}
	urls, why := ringURLs(original, hosts)
	for i, u := range urls {
		c := rest.CopyConfig(config)
		c.Timeout, c.QPS = ringTimeout, -1 // the follower paces itself
		if i > 0 {
			c.Host = u
			if c.ServerName == "" {
				c.ServerName = original.Hostname() // whoever answers must prove to be this one
			}
		}
		get, err := operationGetter(c)
		if err != nil {
			return nil, "", err
		}
		servers = append(servers, apiServer{u, get})
	}
	return servers, why, nil
}

// operationGetter asks an API server once: a client would try one that breaks
// connections off ten times before the next one has its turn.
func operationGetter(config *rest.Config) (func(context.Context, types.NamespacedName) (*v1alpha1.TalosOperation, error), error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	api, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return func(ctx context.Context, name types.NamespacedName) (*v1alpha1.TalosOperation, error) {
		o := &v1alpha1.TalosOperation{}
		return o, api.Get().Namespace(name.Namespace).Resource("talosoperations").Name(name.Name).MaxRetries(0).Do(ctx).Into(o)
	}, nil
}

// ringURLs are the original's, then one for each other host at its port.
func ringURLs(original *url.URL, hosts []string) (urls []string, why string) {
	urls = []string{strings.TrimSuffix(original.String(), "/")}
	switch {
	case original.Scheme != "https":
		return urls, "the kubeconfig's server is not reached by TLS, so that no other one could prove what it is"
	case strings.Trim(original.Path, "/") != "":
		return urls, "the kubeconfig's server is behind the path " + original.Path + ", which the control planes do not have"
	}
	port := original.Port()
	if port == "" {
		port = defaultAPIPort
	}
	for _, h := range hosts {
		u := "https://" + net.JoinHostPort(h, port)
		if h != "" && h != original.Hostname() && !slices.Contains(urls, u) {
			urls = append(urls, u)
		}
	}
	if len(urls) == 1 {
		why = "there is no other control plane whose address is known"
	}
	return urls, why
}
