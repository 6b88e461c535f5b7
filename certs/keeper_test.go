package certs

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

func keeperIn(t *testing.T, w *world, clock *clocktesting.FakeClock, change ...func(*Options)) *Keeper {
	t.Helper()
	way := &link{world: w}
	o := Options{
		Secrets: secrets{way}, Configurations: configurations{way}, SecretName: "ca", ConfigurationName: "gate",
		Names:  Names{DNS: []string{"gate.example.com"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}},
		Policy: testPolicy(), Found: quickCA, Clock: clock, Log: logr.Discard(),
	}
	for _, c := range change {
		c(&o)
	}
	k, err := New(o)
	if err != nil {
		t.Fatalf("make a keeper: %v", err)
	}
	return k
}

func sync1(t *testing.T, k *Keeper) {
	t.Helper()
	if err := k.Sync(t.Context()); err != nil {
		t.Fatalf("sync: %v", err)
	}
}

func TestLeafEndsBeforeItsTrust(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	w := newWorld(1, 0)
	// Reading takes a minute: the leaf counts from before it.
	slow := func(o *Options) { o.Secrets = slowSecrets{o.Secrets, clock} }
	k := keeperIn(t, w, clock, slow)
	sync1(t, k)
	if got, want := k.held().NotAfter, start.Add(testPolicy().LeafLifetime); !got.Equal(want) {
		t.Errorf("leaf ends at %s, want %s", got, want)
	}
	short, err := SignLeaf(ca(t, 0, 10), k.Names, at(0), at(20))
	if err != nil || !short.Leaf.NotAfter.Equal(at(10)) {
		t.Errorf("leaf of a CA that ends first: %v, error %v; want it to end with the CA at %s", short.Leaf.NotAfter, err, at(10))
	}
}

type slowSecrets struct {
	Secrets
	clock *clocktesting.FakeClock
}

func (s slowSecrets) Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.Secret, error) {
	if s.clock.Now().Equal(start) {
		defer s.clock.Step(time.Minute)
		return &corev1.Secret{Data: keyPair(), ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
	}
	return s.Secrets.Get(ctx, name, o)
}

// A replica that was asleep between reading and publishing must not put an older
// bundle over a newer one.
func TestLatePublishIsRefused(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	w := newWorld(1, 0)
	k := keeperIn(t, w, clock)
	late, err := k.look(t.Context())
	if err != nil {
		t.Fatalf("look: %v", err)
	}
	late.authority.Current = ca(t, 0, 100)
	sync1(t, k)
	before := LiveOf(w.config).Trusted()
	if err := k.publish(t.Context(), late); !apierrors.IsConflict(err) {
		t.Errorf("late publish: error = %v, want a conflict", err)
	}
	if err := k.take(t.Context(), Publish, late); err != nil {
		t.Errorf("late step: error = %v, want none: it is looked at again", err)
	}
	if !sameSet(before, LiveOf(w.config).Trusted()) {
		t.Error("the late bundle replaced the newer one")
	}
}

func TestAbsentConfigurationStaysAbsent(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	w := newWorld(1, 0)
	w.config = nil
	k := keeperIn(t, w, clock)
	sync1(t, k)
	if w.config != nil {
		t.Error("the configuration was created: deleting it must stay the way out")
	}
	roots, err := k.Roots()
	if err != nil || !roots.Equal(poolOf(set(AuthorityOf(w.secret, start).Current))) {
		t.Errorf("roots without a configuration: error %v, want the Secret's authority", err)
	}
}

// The type of a Secret cannot be changed: one that somebody made anew goes on as
// it is, through a rotation too.
func TestSecretOfAnotherType(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	w := newWorld(1, 0)
	k := keeperIn(t, w, clock)
	sync1(t, k)
	if w.secret.Type != corev1.SecretTypeTLS {
		t.Errorf("a new secret is of type %q, want %s", w.secret.Type, corev1.SecretTypeTLS)
	}
	w.secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "ca", ResourceVersion: w.next()}, Type: corev1.SecretTypeOpaque}
	sync1(t, k)
	first := AuthorityOf(w.secret, clock.Now()).Current
	if first == nil || w.secret.Type != corev1.SecretTypeOpaque {
		t.Fatalf("authority %v in a secret of type %q, want one in %s", first, w.secret.Type, corev1.SecretTypeOpaque)
	}
	for range 400 { // hours; an authority is replaced after 200
		clock.Step(time.Hour)
		sync1(t, k)
	}
	if second := AuthorityOf(w.secret, clock.Now()).Current; second.Cert.Equal(first.Cert) {
		t.Error("the authority was not replaced")
	}
}

func TestSyncErrors(t *testing.T) {
	gone := apierrors.NewNotFound(secretsResource, "namespace")
	for _, c := range []struct {
		name string
		fail failing
		want string
	}{
		{"read", failing{get: errors.New("no route")}, "read secret ca: no route"},
		{"create without a namespace", failing{get: gone, create: gone}, `begin authority: secrets "namespace" not found`},
		{"always slower than others", failing{get: gone, create: apierrors.NewAlreadyExists(secretsResource, "ca")}, ErrRaced.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := keeperIn(t, newWorld(1, 0), clocktesting.NewFakeClock(start), func(o *Options) { o.Secrets = c.fail })
			if err := k.Sync(t.Context()); err == nil || err.Error() != c.want {
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
}

type failing struct{ get, create error }

func (f failing) Get(context.Context, string, metav1.GetOptions) (*corev1.Secret, error) {
	return nil, f.get
}

func (f failing) Create(_ context.Context, s *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	return s, f.create
}

func (f failing) Update(_ context.Context, s *corev1.Secret, _ metav1.UpdateOptions) (*corev1.Secret, error) {
	return s, errors.New("not expected")
}

func keyPair() map[string][]byte {
	made, err := quickCA(at(-2), at(298))
	if err != nil {
		panic(err)
	}
	return map[string][]byte{corev1.TLSCertKey: made.CertPEM, corev1.TLSPrivateKeyKey: made.KeyPEM}
}
