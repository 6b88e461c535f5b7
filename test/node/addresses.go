package node

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
)

// block is a part of the loopback network that one Kubelets has for itself: what is
// 127.77.x.y for pods and 127.78.x.y for Services, with four values of x.
type block struct {
	first int // the lowest x

	mu       sync.Mutex
	pods     int
	services int
}

// blockSize is how many x a block has: about a thousand addresses, so that one comes
// back long after its pod is gone.
const blockSize = 4

// dnsPort is not 53, which may need rights.
const dnsPort = "10053"

// errNoBlock says that every block that was tried is in use.
var errNoBlock = errors.New("no free part of 127.77.0.0/16 was found")

// claimBlock takes a free block: the listener of its DNS server holds it.
func claimBlock() (*block, net.Listener, error) {
	for range 50 {
		b := &block{first: blockSize * rand.IntN(256/blockSize)}
		if listener, err := net.Listen("tcp", b.dns()); err == nil {
			return b, listener, nil
		}
	}
	return nil, nil, errNoBlock
}

func (b *block) dns() string {
	return net.JoinHostPort(fmt.Sprintf("127.78.%d.1", b.first), dnsPort)
}

// nextPod is an address of the API.
func (b *block) nextPod() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pods++
	return b.address("10.77", b.pods)
}

// nextService is an address of the loopback.
func (b *block) nextService() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.services++
	return b.address("127.78", b.services)
}

// perX is how many addresses each x has: 2 to 254.
const perX = 253

func (b *block) address(network string, n int) string {
	n = (n - 1) % (perX * blockSize)
	return fmt.Sprintf("%s.%d.%d", network, b.first+n/perX, 2+n%perX)
}

// loopback is where the processes of the pod with this address listen.
func loopback(address string) string {
	_, rest, _ := strings.Cut(address, ".")
	return "127." + rest
}
