package node

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// nameServer answers for the cluster and asks nobody else.
type nameServer struct {
	k       *Kubelets
	servers []*dns.Server
}

// serveNames answers over TCP on the listener, and over UDP at the same address.
func serveNames(listener net.Listener, k *Kubelets) (*nameServer, error) {
	packets, err := net.ListenPacket("udp", listener.Addr().String())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve names: %w", err), listener.Close())
	}
	n := &nameServer{k: k}
	for _, server := range []*dns.Server{{Listener: listener}, {PacketConn: packets}} {
		up := make(chan struct{})
		server.Handler, server.NotifyStartedFunc = n, func() { close(up) }
		n.servers = append(n.servers, server)
		k.loops.Go(func() { k.complain(server.ActivateAndServe()) })
		<-up
	}
	return n, nil
}

func (n *nameServer) stop() {
	if n == nil {
		return
	}
	for _, server := range n.servers {
		_ = server.Shutdown() // it runs until here
	}
}

// ServeDNS answers one question. Nothing may be kept: addresses change with pods.
func (n *nameServer) ServeDNS(w dns.ResponseWriter, request *dns.Msg) {
	reply := new(dns.Msg).SetReply(request)
	reply.Authoritative = true
	if len(request.Question) == 1 {
		n.answer(reply, request.Question[0])
	}
	_ = w.WriteMsg(reply) // whoever asked asks again
}

func (n *nameServer) answer(reply *dns.Msg, q dns.Question) {
	header := dns.RR_Header{Name: q.Name, Class: dns.ClassINET, Ttl: 0}
	known := false
	if address, ok := reverseAddress(q.Name); ok {
		names := n.k.reverse(address)
		known = len(names) > 0
		header.Rrtype = dns.TypePTR
		for _, name := range names {
			if q.Qtype == dns.TypePTR {
				reply.Answer = append(reply.Answer, &dns.PTR{Hdr: header, Ptr: name})
			}
		}
	} else {
		var addresses []net.IP
		addresses, known = n.k.resolve(q.Name)
		header.Rrtype = dns.TypeA
		for _, a := range addresses {
			if known && q.Qtype == dns.TypeA {
				reply.Answer = append(reply.Answer, &dns.A{Hdr: header, A: a})
			}
		}
	}
	if !known {
		reply.Rcode = dns.RcodeNameError
	}
}

// reverseAddress reads 2.4.77.127.in-addr.arpa.
func reverseAddress(name string) (string, bool) {
	turned, ok := strings.CutSuffix(strings.ToLower(name), ".in-addr.arpa.")
	parts := strings.Split(turned, ".")
	if !ok || len(parts) != net.IPv4len {
		return "", false
	}
	return strings.Join([]string{parts[3], parts[2], parts[1], parts[0]}, "."), true
}
