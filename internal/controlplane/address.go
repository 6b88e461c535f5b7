package controlplane

import (
	"net"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Address is a machine's host name or IP address, without port or brackets: the one
// that answered last, else the one that spec.endpoint has.
func Address(m *v1alpha1.TalosMachine) string {
	if m.Status.Address != "" {
		return hostOf(m.Status.Address)
	}
	return hostOf(m.Spec.Endpoint)
}

// APIAddress is where the machine API is; without a port it is Talos' own.
func APIAddress(m *v1alpha1.TalosMachine) string {
	if _, port, err := net.SplitHostPort(m.Spec.Endpoint); err == nil {
		return net.JoinHostPort(Address(m), port)
	}
	return Address(m)
}

func etcdURL(m *v1alpha1.TalosMachine) string {
	return "https://" + net.JoinHostPort(Address(m), strconv.Itoa(constants.EtcdClientPort))
}

func hostOf(endpoint string) string {
	if host, _, err := net.SplitHostPort(endpoint); err == nil {
		return host
	}
	return strings.Trim(endpoint, "[]")
}
