package certs

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// world is the API server's storage of the two objects, with its compare-and-swap
// by resource version. It is slow, loses replies, and is sometimes away.
type world struct {
	mu       sync.Mutex
	random   *rand.Rand
	slow     time.Duration // longest way to the server, and back
	version  int
	secret   *corev1.Secret
	config   *admissionregistrationv1.ValidatingWebhookConfiguration
	away     bool
	bundles  []bundleVersion // newest last
	steps    int             // accepted writes
	onChange func()
}

// bundleVersion is a trust bundle and when another one replaced it; zero for the
// one that is live.
type bundleVersion struct {
	roots    *x509.CertPool
	replaced time.Time
}

func newWorld(seed uint64, slow time.Duration) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, seed)), slow: slow, onChange: func() {}}
	w.setConfig(&admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gate"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "a.example.com"}, {Name: "b.example.com"}},
	})
	return w
}

// link is one replica's way to the world.
type link struct {
	*world
	cut time.Time // until when nothing passes
}

// travel waits for one way of a call; it reports a caller that has given up.
func (w *link) travel(ctx context.Context) error {
	w.mu.Lock()
	d := time.Duration(w.random.Float64() * float64(w.slow))
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// call does one exchange. The deed may be done although its reply is lost.
func (w *link) call(ctx context.Context, deed func() error) error {
	if err := w.travel(ctx); err != nil {
		return err
	}
	if err := w.locked(deed); err != nil {
		return err
	}
	return w.travel(ctx)
}

func (w *link) locked(deed func() error) error {
	w.mu.Lock()
	away, before, err := w.away || time.Now().Before(w.cut), w.steps, error(nil)
	if !away {
		err = deed()
	}
	changed := w.steps != before
	w.mu.Unlock()
	if away {
		return apierrors.NewServiceUnavailable("away")
	}
	if changed {
		w.onChange()
	}
	return err
}

func (w *world) next() string {
	w.version++
	return strconv.Itoa(w.version)
}

func (w *world) setConfig(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
	c.ResourceVersion = w.next()
	w.config = c
	if n := len(w.bundles); n > 0 {
		w.bundles[n-1].replaced = time.Now()
	}
	if trusted := LiveOf(c).Trusted(); len(trusted) > 0 { // before the first, nobody can be served
		w.bundles = append(w.bundles, bundleVersion{roots: poolOf(trusted)})
	}
}

var (
	secretKind      = schema.GroupKind{Kind: "Secret"}
	secretsResource = schema.GroupResource{Resource: "secrets"}
	configsResource = schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}
)

type secrets struct{ *link }

func (s secrets) Get(ctx context.Context, name string, _ metav1.GetOptions) (got *corev1.Secret, err error) {
	err = s.call(ctx, func() error {
		if s.secret == nil {
			return apierrors.NewNotFound(secretsResource, name)
		}
		got = s.secret.DeepCopy()
		return nil
	})
	return got, err
}

func (s secrets) Create(ctx context.Context, c *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	return c, s.call(ctx, func() error {
		if s.secret != nil {
			return apierrors.NewAlreadyExists(secretsResource, c.Name)
		}
		return s.put(c)
	})
}

func (s secrets) Update(ctx context.Context, c *corev1.Secret, _ metav1.UpdateOptions) (*corev1.Secret, error) {
	return c, s.call(ctx, func() error {
		switch {
		case s.secret == nil:
			return apierrors.NewNotFound(secretsResource, c.Name)
		case s.secret.ResourceVersion != c.ResourceVersion:
			return apierrors.NewConflict(secretsResource, c.Name, nil)
		case s.secret.Type != c.Type:
			return apierrors.NewInvalid(secretKind, c.Name, field.ErrorList{field.Invalid(field.NewPath("type"), c.Type, "field is immutable")})
		}
		return s.put(c)
	})
}

func (s secrets) put(c *corev1.Secret) error {
	s.secret = c.DeepCopy()
	s.secret.ResourceVersion = s.next()
	s.steps++
	return nil
}

type configurations struct{ *link }

func (c configurations) Get(ctx context.Context, name string, _ metav1.GetOptions) (got *admissionregistrationv1.ValidatingWebhookConfiguration, err error) {
	err = c.call(ctx, func() error {
		if c.config == nil {
			return apierrors.NewNotFound(configsResource, name)
		}
		got = c.config.DeepCopy()
		return nil
	})
	return got, err
}

func (c configurations) Patch(ctx context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (patched *admissionregistrationv1.ValidatingWebhookConfiguration, err error) {
	err = c.call(ctx, func() error {
		if patched, err = c.patched(data); err != nil {
			return err
		}
		if patched.ResourceVersion != c.config.ResourceVersion {
			return apierrors.NewConflict(configsResource, name, nil)
		}
		c.steps++
		c.setConfig(patched)
		return nil
	})
	return patched, err
}

func (c configurations) patched(data []byte) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	patch, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(c.config)
	if err != nil {
		return nil, err
	}
	if raw, err = patch.Apply(raw); err != nil {
		return nil, err
	}
	out := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	return out, json.Unmarshal(raw, out)
}
