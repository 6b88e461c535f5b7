package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// Ready is a readiness check: it does what an API server would, a TLS handshake
// under the service's name that trusts the current authorities and nothing else.
// A listening port alone proves nothing: the certificate may not be there yet,
// or signed by an authority that is not in the webhook configuration any more.
func (s *Server) Ready(r *http.Request) error {
	if s.draining.Load() {
		return ErrDraining
	}
	address := s.address.Load()
	if address == nil {
		return ErrNotServing
	}
	ctx, cancel := context.WithTimeout(r.Context(), handshakeTimeout)
	defer cancel()
	return s.anyHandshake(ctx, dialable(address))
}

// anyHandshake succeeds at the first address that does.
func (s *Server) anyHandshake(ctx context.Context, addresses []string) error {
	var failed []error
	for _, address := range addresses {
		err := s.handshake(ctx, address)
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func (s *Server) handshake(ctx context.Context, address string) error {
	roots, err := s.o.Roots()
	if err != nil {
		return fmt.Errorf("read the certificate authorities: %w", err)
	}
	dialer := tls.Dialer{Config: &tls.Config{ServerName: s.o.ServerName, RootCAs: roots, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("shake hands with the webhook as %s: %w", s.o.ServerName, err)
	}
	if err := conn.Close(); err != nil {
		return fmt.Errorf("close the handshake with the webhook: %w", err)
	}
	return nil
}

// dialable lists the addresses as this host reaches them. A listener at :: serves
// IPv4 too, and a host may have no IPv6 on its loopback: that comes last.
func dialable(a *net.TCPAddr) []string {
	if !a.IP.IsUnspecified() {
		return []string{a.String()}
	}
	port := strconv.Itoa(a.Port)
	addresses := []string{net.JoinHostPort("127.0.0.1", port)}
	if a.IP.To4() == nil {
		addresses = append(addresses, net.JoinHostPort("::1", port))
	}
	return addresses
}
