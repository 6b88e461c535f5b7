package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// faults are ends of a connection, with the kind that they make of an unanswered call.
var faults = []struct {
	fault error
	kind  error // nil: the code decides
}{
	{nil, nil},
	{io.EOF, nil},
	{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, nil},
	{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, nil},
	{&net.OpError{Op: "remote error"}, nil},
	{&net.OpError{Op: "read", Err: tls.AlertError(48)}, nil},
	{errors.New("remote error: tls: expired certificate"), nil},
	{errors.New("x509: certificate signed by unknown authority"), nil},
	{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, nil},
	{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, nil},
	{&net.OpError{Op: "remote error", Err: tls.AlertError(42)}, ErrWrongCertificate},
	{&net.OpError{Op: "remote error", Err: tls.AlertError(45)}, ErrExpired},
	{&net.OpError{Op: "remote error", Err: tls.AlertError(48)}, ErrWrongCA},
	{&net.OpError{Op: "remote error", Err: tls.AlertError(116)}, ErrWrongCertificate},
	{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, ErrWrongCA},
	{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, ErrExpired},
	{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.TooManyIntermediates}}, ErrWrongCertificate},
	{&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}}}, ErrWrongCertificate},
}

var answerKinds = map[codes.Code]error{
	codes.PermissionDenied: ErrDenied, codes.Unauthenticated: ErrDenied,
	codes.Unimplemented: ErrNotControlPlane, codes.NotFound: ErrNotFound,
	codes.FailedPrecondition: ErrNotReady, codes.AlreadyExists: ErrHasData,
	codes.DeadlineExceeded: ErrLate,
}

var silentCodes = []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal}

// Every code, answered or not, with every end of a connection, bare or wrapped.
func TestEveryFailureHasOneKind(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		for _, f := range faults {
			for _, fault := range []error{f.fault, wrapped(f.fault)} {
				err := status.Error(code, "x509: certificate signed by unknown authority")
				answered := seen{err: err, answered: true, expired: code != codes.DeadlineExceeded, fault: fault}.kind()
				if want := or(answerKinds[code], ErrFailed); answered != want {
					t.Errorf("%s answered after %v: %v, want %v", code, fault, answered, want)
				}
				want := ErrFailed
				if slices.Contains(silentCodes, code) {
					want = ErrUnreachable
				}
				if got := (seen{err: err, fault: fault}).kind(); got != or(f.kind, want) {
					t.Errorf("%s after %v: %v, want %v", code, fault, got, or(f.kind, want))
				}
			}
		}
	}
	late := status.FromContextError(context.DeadlineExceeded).Err()
	for expired, want := range map[bool]error{true: ErrUnreachable, false: ErrLate} {
		if got := (seen{err: late, answered: true, expired: expired}).kind(); got != want {
			t.Errorf("the server's clock says that time is up, and the limit has passed: %t: %v, want %v", expired, got, want)
		}
	}
	if got := (seen{err: errEmpty, answered: true}).kind(); got != ErrFailed {
		t.Errorf("an empty answer: %v", got)
	}
}

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

func or(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// A sentinel without a way out would leave people guessing.
func TestEveryKindHasAWayOut(t *testing.T) {
	for _, kind := range []error{ErrUnreachable, ErrDenied, ErrWrongCA, ErrExpired, ErrWrongCertificate, ErrNotControlPlane, ErrNotFound, ErrNotReady, ErrLate, ErrHasData, ErrFailed, ErrOtherCluster, ErrShortDeadline} {
		if waysOut[kind] == "" {
			t.Errorf("%v has no way out", kind)
		}
	}
}

func TestHostPort(t *testing.T) {
	for address, want := range map[string]string{
		"10.5.0.1": "10.5.0.1:50000", "10.5.0.1:50001": "10.5.0.1:50001", "cp-1.example.com": "cp-1.example.com:50000",
		"fd00::1": "[fd00::1]:50000", "[fd00::1]": "[fd00::1]:50000", "[fd00::1]:50001": "[fd00::1]:50001",
	} {
		if got := hostPort(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
