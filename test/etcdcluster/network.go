package etcdcluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Network is a part of the loopback network, such as 127.31.7. Members get its
// addresses in their order, each with etcd's usual ports: a cluster that is made
// anew on the same network has the same URLs.
type Network string

// errNoNetwork says that something listens wherever one looks.
var errNoNetwork = errors.New("no free part of the loopback network was found")

// FreeNetwork finds one that nobody uses just now.
func FreeNetwork() (Network, error) {
	for range 100 {
		n := Network(fmt.Sprintf("127.%d.%d", 1+rand.IntN(254), rand.IntN(256)))
		if n.free() {
			return n, nil
		}
	}
	return "", errNoNetwork
}

// free tells whether the first member could listen.
func (n Network) free() bool {
	listener, err := net.Listen("tcp", net.JoinHostPort(n.host(0), peerPort))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// The ports that etcd documents.
const (
	clientPort = "2379"
	peerPort   = "2380"
)

// Address is host:port of the member with this number, for what runs beside it.
func (n Network) Address(i int, port string) string { return net.JoinHostPort(n.host(i), port) }

func (n Network) host(i int) string { return fmt.Sprintf("%s.%d", n, i+1) }

func (n Network) url(i int, port string) string {
	return "http://" + n.Address(i, port)
}
