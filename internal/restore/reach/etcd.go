package reach

import (
	"context"
	"net"
	"strconv"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/talos"
)

// Etcd asks members of etcd by the client certificate that the bundle gives.
type Etcd struct{ bundle *talos.Bundle }

var _ restore.Etcd = Etcd{}

// NewEtcd asks members of the bundle's cluster.
func NewEtcd(b *talos.Bundle) Etcd { return Etcd{b} }

// Probe asks the member beside a machine API.
func Probe(ctx context.Context, b *talos.Bundle, address string) (etcd.ProbeResult, error) {
	return etcd.Probe(ctx, etcd.Options{Endpoints: []string{clientURL(address)}, TLS: b.EtcdTLS()})
}

// Probe implements restore.Etcd. The address is the machine API's.
func (e Etcd) Probe(ctx context.Context, address string) (restore.Probe, error) {
	found, err := Probe(ctx, e.bundle, address)
	if err != nil {
		return restore.Probe{}, err
	}
	p := restore.Probe{ClusterID: found.ClusterID, MemberID: found.MemberID, Revision: found.Revision}
	for _, m := range found.Members {
		p.Members = append(p.Members, guard.Member{ID: m.ID, Name: m.Name, PeerURLs: m.PeerURLs, Learner: m.Learner, Started: m.Started()})
	}
	return p, nil
}

// clientURL is of the member beside a machine API.
func clientURL(address string) string {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	return "https://" + net.JoinHostPort(host, strconv.Itoa(constants.EtcdClientPort))
}
