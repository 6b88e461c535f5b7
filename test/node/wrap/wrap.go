// Package wrap moves a program into a pod of package node: its names come from the
// tests' DNS server, and etcd listens at the pod's own address. It is compiled into
// wrapped builds alone, by an overlay, so that no program has a hook for tests.
package wrap

import (
	"context"
	"fmt"
	"net"
	"os"
)

// What package node tells a wrapped program. Without them it runs as it is.
const (
	// DNSVariable is host:port of the only server that answers its names.
	DNSVariable = "QUORATE_TEST_DNS"
	// AddressVariable is the pod's address on the loopback, such as 127.77.4.2: etcd
	// listens there where its configuration file says 0.0.0.0.
	AddressVariable = "QUORATE_TEST_ADDRESS"
)

func init() {
	if server := os.Getenv(DNSVariable); server != "" {
		net.DefaultResolver = Resolver(server)
	}
	address := os.Getenv(AddressVariable)
	if address == "" {
		return
	}
	args, err := move(os.Args, address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Args = args
}

// Resolver asks this server (host:port) and no other.
func Resolver(server string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
}
