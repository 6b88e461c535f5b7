package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Codes of the protocol on which something depends.
const (
	codeConflict       = "ConditionalRequestConflict" // another conditional write is under way
	codeNoBucket       = "NoSuchBucket"
	codeNotImplemented = "NotImplemented"
)

// absent are the codes of an object that is not there. Any other 404 is of something
// else, such as a user: taken for an absence it would hide a marker.
var absent = []string{"NoSuchKey", "NotFound", "NoSuchUpload", "NoSuchVersion"}

// misplaced are the codes of a bucket that is elsewhere.
var misplaced = []string{"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "InvalidBucketName"}

// errCondition says that a write was refused on its condition; what it means depends on
// the condition.
var errCondition = errors.New("the condition does not hold")

// classify says what an error is to a caller, and keeps it.
func (b *bucket) classify(err error) error {
	if err == nil {
		return nil
	}
	var said smithy.APIError
	if errors.As(err, &said) {
		return b.answered(said, statusOf(err))
	}
	return b.unanswered(err)
}

func statusOf(err error) int {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}

// answered judges what the store said. Its own words are kept short: the client's error
// has request IDs around them.
func (b *bucket) answered(said smithy.APIError, status int) error {
	text := said.ErrorCode()
	if m := said.ErrorMessage(); m != "" && m != text {
		text += ": " + m
	}
	switch code := said.ErrorCode(); {
	case code == codeNoBucket:
		return fmt.Errorf("%w: there is no bucket %s", ErrSettings, b.bucket)
	case slices.Contains(misplaced, code) || status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect:
		return fmt.Errorf("%w: the bucket %s is not served there: %s", ErrSettings, b.bucket, text)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("%w: %s", ErrDenied, text)
	case slices.Contains(absent, code):
		return fmt.Errorf("%w (%s)", ErrNotFound, text)
	case status == http.StatusNotFound:
		return fmt.Errorf("%w: the store answers %d %s", ErrSettings, status, text)
	case status == http.StatusPreconditionFailed || code == codeConflict:
		return fmt.Errorf("%w (%s)", errCondition, text)
	case code == codeNotImplemented:
		return fmt.Errorf("the store cannot do that: %w", said)
	case status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout:
		return fmt.Errorf("%w: it answers %d %s", ErrUnreachable, status, text)
	}
	return fmt.Errorf("the store answers %d %s: %w", status, text, said)
}

// unanswered judges what kept the store from answering.
func (b *bucket) unanswered(err error) error {
	var authority x509.UnknownAuthorityError
	var wrong *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &authority), errors.As(err, &wrong):
		return fmt.Errorf("%w: its certificate is not trusted (give the CA that signed it): %w", ErrUnreachable, innermost(err))
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, innermost(err))
}

// innermost drops what the client puts around an error of the network: numbers of
// attempts and empty request IDs.
func innermost(err error) error {
	var send *smithyhttp.RequestSendError
	if errors.As(err, &send) {
		return send.Err
	}
	return err
}
