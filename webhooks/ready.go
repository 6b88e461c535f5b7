package webhooks

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
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
	return s.handshake(ctx, dialable(address))
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

// dialable is the address as this host reaches it.
func dialable(a *net.TCPAddr) string {
	dial := *a
	if dial.IP.IsUnspecified() {
		dial.IP = net.IPv6loopback
		if a.IP.To4() != nil {
			dial.IP = net.IPv4(127, 0, 0, 1)
		}
	}
	return dial.String()
}
