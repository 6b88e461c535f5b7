package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// seen is what was observed of one failed call.
type seen struct {
	// err is the call's error, with a gRPC status.
	err error
	// answered: the server itself ended the call with a status. Without this an
	// Unavailable of the node's etcd would pass for a dead node.
	answered bool
	// expired: the call's limit has passed. A server that is then told so by its own
	// clock says no more than silence does.
	expired bool
	// fault is why there is no connection: of the dial, the handshake, or the alert
	// that ended it. gRPC makes Unavailable of all three.
	fault error
}

// said is whether the server has a reason of its own.
func (s seen) said() bool {
	return s.answered && !(s.expired && status.Code(s.err) == codes.DeadlineExceeded)
}

// kind names the failure by types and codes, never by texts.
func (s seen) kind() error {
	if s.said() {
		return answerKind(status.Code(s.err))
	}
	if k := certificateKind(s.fault); k != nil {
		return k
	}
	switch status.Code(s.err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal:
		return ErrUnreachable
	default:
		return ErrFailed
	}
}

// cause is what says most: what the server said, the fault of the connection, that
// time is up, or what gRPC says.
func (s seen) cause(limit time.Duration) error {
	switch {
	case s.said():
		return s.err
	case s.fault != nil:
		return s.fault
	case status.Code(s.err) == codes.DeadlineExceeded:
		return fmt.Errorf("silent for %s: %w", limit, context.DeadlineExceeded)
	}
	return s.err
}

// answerKind judges a status of the server. Talos sets these codes alone; all else
// is Unknown with a text.
func answerKind(code codes.Code) error {
	switch code {
	case codes.PermissionDenied, codes.Unauthenticated:
		return ErrDenied
	case codes.Unimplemented:
		return ErrNotControlPlane
	case codes.NotFound:
		return ErrNotFound
	case codes.FailedPrecondition:
		return ErrNotReady
	case codes.DeadlineExceeded:
		return ErrLate
	case codes.AlreadyExists:
		return ErrHasData
	default:
		return ErrFailed
	}
}

// certificateKind is nil for a fault that is none of certificates.
func certificateKind(fault error) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](fault); ok {
		return ErrWrongCA
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](fault); ok && invalid.Reason == x509.Expired {
		return ErrExpired
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](fault); ok {
		return ErrWrongCertificate
	}
	return alertKind(fault)
}

// Alerts by which a server refuses a client's certificate (RFC 8446, section 6.2).
var alertKinds = map[tls.AlertError]error{
	42:  ErrWrongCertificate, // bad_certificate
	43:  ErrWrongCertificate, // unsupported_certificate
	44:  ErrWrongCertificate, // certificate_revoked
	45:  ErrExpired,          // certificate_expired
	46:  ErrWrongCertificate, // certificate_unknown
	48:  ErrWrongCA,          // unknown_ca
	116: ErrWrongCertificate, // certificate_required
}

// alertKind is nil for all else. crypto/tls hands out the peer's alert in a type
// that it does not export; [tls.AlertError] is the same number and says the same.
func alertKind(fault error) error {
	op, ok := errors.AsType[*net.OpError](fault)
	if !ok || op.Op != "remote error" || op.Err == nil {
		return nil
	}
	for alert, kind := range alertKinds {
		if op.Err.Error() == alert.Error() {
			return kind
		}
	}
	return nil
}
