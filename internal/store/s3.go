package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Options say where a bucket is, and how patient its client is.
type Options struct {
	// Endpoint is the URL; empty for AWS's own of the region. A bucket of another
	// endpoint is named in the path, as not all have a DNS name for each.
	Endpoint string
	// Region is us-east-1 if it is empty.
	Region string
	Bucket string
	// Prefix is the folder within the bucket, without a slash at either end.
	Prefix                       string
	AccessKeyID, SecretAccessKey string
	// SessionToken is that of credentials for a time; empty for lasting ones.
	SessionToken string
	// CA are the certificates in PEM that the store's is signed by; empty for those of
	// the system.
	CA []byte
	// Timeout is how long the store may take to answer, and to send the next bytes; 0 is
	// 30 s. What is sent may take a second more for each 64 KiB.
	Timeout time.Duration
	// Attempts is how often a call is tried in all; 0 is 4.
	Attempts int
	// Backoff is the longest pause between two attempts; 0 is 5 s.
	Backoff time.Duration
}

const (
	defaultTimeout  = 30 * time.Second
	defaultAttempts = 4
	defaultBackoff  = 5 * time.Second
	dialTimeout     = 10 * time.Second
	// idleTimeout is short, as a store is made anew for each round of work.
	idleTimeout = 20 * time.Second
)

// bucket is a Store in a bucket that speaks S3. Checksums are sent only where the
// protocol demands them: not all that speak it know the newer kinds, and what is stored
// here carries sums of its own.
type bucket struct {
	api     *s3.Client
	bucket  string
	prefix  string // ends in a slash unless it is empty
	options Options
}

// NewS3 makes a store of a bucket, and asks it nothing yet. It fails with ErrSettings.
func NewS3(o Options) (Store, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	api := s3.New(s3.Options{
		Region: o.Region, HTTPClient: client, Retryer: o.retryer(), Logger: logging.Nop{},
		Credentials:                credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretAccessKey, o.SessionToken),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}, func(s *s3.Options) {
		if o.Endpoint != "" {
			s.BaseEndpoint, s.UsePathStyle = aws.String(o.Endpoint), true
		}
	})
	prefix := o.Prefix
	if prefix != "" {
		prefix += "/"
	}
	return &bucket{api: api, bucket: o.Bucket, prefix: prefix, options: o}, nil
}

func (o Options) withDefaults() Options {
	if o.Region == "" {
		o.Region = v1alpha1.DefaultRegion
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Attempts == 0 {
		o.Attempts = defaultAttempts
	}
	if o.Backoff == 0 {
		o.Backoff = defaultBackoff
	}
	return o
}

func (o Options) check() error {
	switch {
	case o.Bucket == "":
		return fmt.Errorf("%w: no bucket is named", ErrSettings)
	case o.AccessKeyID == "" || o.SecretAccessKey == "":
		return fmt.Errorf("%w: access key ID or secret access key is empty", ErrSettings)
	case o.Endpoint == "":
		return nil
	}
	u, err := url.Parse(o.Endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("%w: endpoint %s is no URL that begins with http:// or https://", ErrSettings, o.Endpoint)
	}
	return nil
}

func (o Options) client() (*patient, error) {
	var roots *x509.CertPool // nil are the system's
	if len(o.CA) > 0 {
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(o.CA) {
			return nil, fmt.Errorf("%w: the CA is no certificate in PEM", ErrSettings)
		}
	}
	return &patient{timeout: o.Timeout, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: min(dialTimeout, o.Timeout)}).DialContext,
			TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: min(dialTimeout, o.Timeout),
			IdleConnTimeout:     idleTimeout, MaxIdleConnsPerHost: 4, ForceAttemptHTTP2: true, DisableCompression: true,
		},
	}}, nil
}

// retryer tries again what may pass by itself. Its bound is the number of attempts
// alone: a budget that all calls share would let one that is away fail the others.
func (o Options) retryer() aws.Retryer {
	standard := retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts, s.MaxBackoff, s.RateLimiter = o.Attempts, o.Backoff, ratelimit.None
	})
	return retry.AddWithErrorCodes(standard, codeConflict)
}

func (b *bucket) key(name string) *string { return aws.String(b.prefix + name) }

func (b *bucket) Probe(ctx context.Context) error { return probe(ctx, b) }

// metaPut names the metadata by which a writer knows its own object again, after an
// answer was lost.
const metaPut = "quorate-put"

func (b *bucket) Delete(ctx context.Context, name string) error {
	return b.delete(ctx, name, nil)
}

func (b *bucket) delete(ctx context.Context, name string, match *string) error {
	if err := checkName(name); err != nil {
		return err
	}
	_, err := b.api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: b.key(name), IfMatch: match})
	if err = b.classify(err); errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete object %s: %w", name, err)
	}
	return nil
}

func trimPrefix(key *string, prefix string) string {
	return strings.TrimPrefix(aws.ToString(key), prefix)
}
