package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
)

// Secrets is the part of a namespace's secrets client that is used.
type Secrets interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.Secret, error)
	Create(ctx context.Context, s *corev1.Secret, o metav1.CreateOptions) (*corev1.Secret, error)
	Update(ctx context.Context, s *corev1.Secret, o metav1.UpdateOptions) (*corev1.Secret, error)
}

// Configurations is the part of the webhook configuration client that is used.
type Configurations interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (*admissionregistrationv1.ValidatingWebhookConfiguration, error)
	Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*admissionregistrationv1.ValidatingWebhookConfiguration, error)
}

// Options say what to keep and where.
type Options struct {
	Secrets        Secrets
	Configurations Configurations
	// SecretName and ConfigurationName name the objects that are kept.
	SecretName, ConfigurationName string
	Names                         Names
	Policy                        Policy
	// Found makes authorities; FoundCA when nil.
	Found Found
	Clock clock.Clock
	Log   logr.Logger
	// OnExpiry is told when "serving" and "ca" expire, after each look; may be nil.
	OnExpiry func(name string, notAfter time.Time)
}

// Keeper keeps one replica's serving certificate and, together with the other
// replicas, the authority behind it. Only one Run or Sync may be under way;
// GetCertificate and Roots may be called at any time.
type Keeper struct {
	Options
	seen  struct{ published, at time.Time }
	leaf  atomic.Pointer[tls.Certificate]
	roots atomic.Pointer[x509.CertPool]
}

// What is returned before the first look at the API server.
var (
	ErrNoLeaf  = errors.New("no serving certificate yet")
	ErrNoRoots = errors.New("the webhook configuration was not read yet")
)

// ErrRaced ends a pass in which others were always faster; the next one goes on.
var ErrRaced = errors.New("other replicas changed the authority meanwhile")

// New checks the options.
func New(o Options) (*Keeper, error) {
	if err := o.Policy.Validate(); err != nil {
		return nil, err
	}
	if len(o.Names.DNS) == 0 {
		return nil, ErrNames
	}
	if o.Found == nil {
		o.Found = FoundCA
	}
	if o.OnExpiry == nil {
		o.OnExpiry = func(string, time.Time) {}
	}
	return &Keeper{Options: o}, nil
}

// GetCertificate serves the newest leaf, or fails with ErrNoLeaf.
func (k *Keeper) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if leaf := k.leaf.Load(); leaf != nil {
		return leaf, nil
	}
	return nil, ErrNoLeaf
}

// Roots returns what the API servers trust (see Authority.Accepted), by the webhook
// configuration as it was last read. It fails with ErrNoRoots before the first look.
func (k *Keeper) Roots() (*x509.CertPool, error) {
	if roots := k.roots.Load(); roots != nil {
		return roots, nil
	}
	return nil, ErrNoRoots
}

// Run keeps the certificates until the context ends. It reads both objects at
// every poll, so it needs no watch and no right to list Secrets; failures are
// logged and repeated after 1 s, doubling to the poll interval.
func (k *Keeper) Run(ctx context.Context) error {
	retry := k.newRetry()
	for ctx.Err() == nil {
		pause := wait.Jitter(k.Policy.Poll, 0.2)
		switch err := k.Sync(ctx); {
		case err == nil:
			retry = k.newRetry()
		case ctx.Err() == nil:
			pause = retry.Step()
			k.Log.Error(err, "keep certificates", "again", pause.String())
		}
		select {
		case <-ctx.Done():
		case <-k.Clock.After(pause):
		}
	}
	return nil
}

func (k *Keeper) newRetry() *wait.Backoff {
	return &wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: math.MaxInt32, Cap: k.Policy.Poll}
}

// maxSteps is more than any rotation takes at once.
const maxSteps = 8

// Sync looks once, renews the leaf if it is due, and takes every step that is
// open. Lost races are looked at again.
func (k *Keeper) Sync(ctx context.Context) error {
	for range maxSteps {
		v, err := k.look(ctx)
		if err != nil {
			return err
		}
		if err := k.serve(v); err != nil {
			return err
		}
		step := Decide(v.authority, v.live, v.now, k.Policy)
		if step == Rest {
			return nil
		}
		if err := k.take(ctx, step, v); err != nil {
			return fmt.Errorf("%s authority: %w", step, err)
		}
	}
	return ErrRaced
}

// serve swaps the leaf if that is due. Its validity counts from before the
// Secret was read, so that no leaf of a replaced authority outlives its trust.
func (k *Keeper) serve(v view) error {
	k.roots.Store(poolOf(v.authority.Accepted(v.live, v.now, k.Policy)))
	if SignNow(k.held(), v.authority, v.live.Trusted(), v.now, k.Policy) {
		leaf, err := SignLeaf(v.authority.Current, k.Names, v.since.Add(-k.Policy.Skew), v.since.Add(k.Policy.LeafLifetime))
		if err != nil {
			return err
		}
		k.leaf.Store(leaf)
		k.Log.Info("serving certificate renewed", "authority", v.authority.Current.Cert.Subject.CommonName, "until", leaf.Leaf.NotAfter)
	}
	k.observe(v)
	return nil
}

func (k *Keeper) held() *x509.Certificate {
	if leaf := k.leaf.Load(); leaf != nil {
		return leaf.Leaf
	}
	return nil
}

func (k *Keeper) observe(v view) {
	if held := k.held(); held != nil {
		k.OnExpiry("serving", held.NotAfter)
	}
	if v.authority.Current != nil {
		k.OnExpiry("ca", v.authority.Current.Cert.NotAfter)
	}
}
