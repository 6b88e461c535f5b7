package restore

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// resolveTimeout bounds one question to DNS.
const resolveTimeout = 5 * time.Second

// StoreAt tells where in this cluster a store seems to run, by its endpoint: by the name
// of a Service, or by an address that a Service or a Node has. What it cannot see is a
// store that is reached by an address outside, such as a proxy's.
func StoreAt(live client.Reader, resolve func(ctx context.Context, host string) ([]string, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, endpoint string) (string, error) {
		at, err := url.Parse(endpoint)
		if err != nil || at.Hostname() == "" {
			return "", nil // the store's own address, such as AWS's
		}
		if s := serviceName(at.Hostname()); s != "" {
			return "Service " + s, nil
		}
		var services corev1.ServiceList
		if err := live.List(ctx, &services); err != nil {
			return "", fmt.Errorf("list the Services: %w", err)
		}
		var nodes corev1.NodeList
		if err := live.List(ctx, &nodes); err != nil {
			return "", fmt.Errorf("list the Nodes: %w", err)
		}
		return holderOf(addresses(ctx, at.Hostname(), resolve), services.Items, nodes.Items), nil
	}
}

// serviceName reads a Service's name within a cluster: NAME.NAMESPACE.svc and what may
// follow.
func serviceName(host string) string {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(labels) >= 3 && labels[2] == "svc" {
		return labels[1] + "/" + labels[0]
	}
	return ""
}

// addresses are those of a host; none if its name says nothing here.
func addresses(ctx context.Context, host string, resolve func(context.Context, string) ([]string, error)) []string {
	if net.ParseIP(host) != nil {
		return []string{host}
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := resolve(ctx, host)
	if err != nil {
		return nil
	}
	return found
}

// holderOf is what in the cluster has one of these addresses; empty if nothing has.
func holderOf(addresses []string, services []corev1.Service, nodes []corev1.Node) string {
	for _, s := range services {
		for _, a := range serviceAddresses(&s) {
			if slices.Contains(addresses, a) {
				return fmt.Sprintf("Service %s/%s has its address %s", s.Namespace, s.Name, a)
			}
		}
	}
	for _, n := range nodes {
		for _, a := range n.Status.Addresses {
			if slices.Contains(addresses, a.Address) {
				return fmt.Sprintf("Node %s has its address %s", n.Name, a.Address)
			}
		}
	}
	return ""
}

func serviceAddresses(s *corev1.Service) []string {
	out := append(slices.Clone(s.Spec.ClusterIPs), s.Spec.ExternalIPs...)
	for _, i := range s.Status.LoadBalancer.Ingress {
		out = append(out, i.IP)
	}
	return slices.DeleteFunc(append(out, s.Spec.ClusterIP), func(a string) bool { return a == "" || a == corev1.ClusterIPNone })
}
