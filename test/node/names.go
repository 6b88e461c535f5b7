package node

import (
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// resolve answers the loopback addresses behind a name, as the cluster's DNS answers
// those of the API: false if there is no such name.
func (k *Kubelets) resolve(name string) ([]net.IP, bool) {
	host, service, namespace, ok := parseName(name)
	if !ok {
		return nil, false
	}
	found, err := k.world().services.Services(namespace).Get(service)
	if err != nil {
		return nil, false
	}
	if found.Spec.ClusterIP != corev1.ClusterIPNone {
		return []net.IP{net.ParseIP(k.proxy.address(found))}, host == ""
	}
	out := headless(k.world().slicesOf(namespace, service), host)
	return out, len(out) > 0
}

// parseName takes [host.]service.namespace[.svc[.cluster.local]] apart. Without svc
// there is no host.
func parseName(name string) (host, service, namespace string, ok bool) {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	labels := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, ".cluster.local"), ".svc"), ".")
	long := strings.HasSuffix(name, ".svc") || strings.HasSuffix(name, ".svc.cluster.local")
	switch {
	case len(labels) == 2:
		return "", labels[0], labels[1], true
	case len(labels) == 3 && long:
		return labels[0], labels[1], labels[2], true
	}
	return "", "", "", false
}

// headless answers the endpoints that are ready, or only the one of this host name.
// Those of a Service that publishes addresses that are not ready count as ready.
func headless(slicesOf []*discoveryv1.EndpointSlice, host string) (out []net.IP) {
	for _, s := range slicesOf {
		for _, e := range s.Endpoints {
			if !isReady(e) || host != "" && (e.Hostname == nil || *e.Hostname != host) {
				continue
			}
			for _, a := range e.Addresses {
				out = append(out, net.ParseIP(loopback(a)))
			}
		}
	}
	return out
}

// isReady follows the API: unknown means ready.
func isReady(e discoveryv1.Endpoint) bool { return e.Conditions.Ready == nil || *e.Conditions.Ready }

// reverse answers the names of pods at a loopback address.
func (k *Kubelets) reverse(address string) (out []string) {
	for _, s := range list(k.world().slices.List) {
		service := s.Labels[discoveryv1.LabelServiceName]
		for _, e := range s.Endpoints {
			if e.Hostname == nil || !slices.ContainsFunc(e.Addresses, func(a string) bool { return loopback(a) == address }) {
				continue
			}
			out = append(out, strings.Join([]string{*e.Hostname, service, s.Namespace, "svc.cluster.local."}, "."))
		}
	}
	return out
}
