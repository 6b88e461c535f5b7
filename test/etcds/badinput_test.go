package etcds

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// notReady waits for condition Ready to be False with a text in its message.
func (p *plant) notReady(reason, text string) {
	p.t.Helper()
	p.until("Ready to say "+text, func(e *v1alpha1.Etcd) error {
		if c := condition(e, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse || c.Reason != reason || !strings.Contains(c.Message, text) {
			return errNotYet
		}
		return nil
	})
}

// The Secret of the controller's certificate is missing, then broken, then right: each
// is said by name, nobody is removed, and the scale-in that was asked for meanwhile
// happens once it is mended.
func TestBadTLSSecret(t *testing.T) {
	t.Parallel()
	p := &plant{t: t, ns: newNamespace(t), name: "main"}
	ca := newAuthority(t)
	p.tls = ca.client(p)
	p.renew(ca)
	p.create(2, overTLS)
	p.settled(2)
	p.put("two")
	good := ca.pair(p)
	must(t, admin.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: "client"}}))
	p.scale(1)
	p.blockedBy(v1alpha1.ErrReadTLS, "clientTLS.clientSecretRef", `"client" not found`)
	p.notReady(v1alpha1.ReasonBlocked, `"client" not found`)
	p.told("Blocked: ERR_READ_TLS: ")
	p.secret("client", map[string][]byte{corev1.TLSCertKey: []byte("no certificate"), corev1.TLSPrivateKeyKey: good[corev1.TLSPrivateKeyKey]})
	p.blockedBy(v1alpha1.ErrReadTLS, "Secret client", "tls.crt and tls.key")
	p.secret("client", map[string][]byte{corev1.TLSCertKey: good[corev1.TLSCertKey], corev1.TLSPrivateKeyKey: good[corev1.TLSPrivateKeyKey]})
	p.blockedBy(v1alpha1.ErrReadTLS, "Secret client", "ca.crt holds no certificate")
	// The agents are unready without it, so the Service leads nowhere.
	v, err := viewAt(t.Context(), p.tls, p.member(0), p.member(1))
	must(t, err)
	if n := len(v.Members); n != 2 {
		t.Errorf("%d members, want 2: none may go", n)
	}
	p.secret("client", good)
	p.settled(1)
	p.want(1)
	p.kept()
	p.told("Unblocked: ERR_READ_TLS is resolved.")
}

// The Secret that members serve with does not exist: the pods wait, the Etcd names the
// Secret, and starts when it is there.
func TestUnknownServerSecret(t *testing.T) {
	t.Parallel()
	p := &plant{t: t, ns: newNamespace(t), name: "main"}
	ca := newAuthority(t)
	p.tls = ca.client(p)
	p.secret("client", ca.pair(p))
	p.secret("peer", ca.pair(p))
	p.create(1, overTLS)
	p.blockedBy(v1alpha1.ErrReadTLS, "clientTLS.serverSecretRef", `"server" not found`)
	p.told("Blocked: ERR_READ_TLS: ")
	p.secret("server", ca.pair(p))
	p.settled(1)
	p.want(1)
}

// The client Service and its endpoints lead to another cluster: the Etcd names it,
// removes nobody, and goes on when the names are right again.
func TestAnotherClusterAnswers(t *testing.T) {
	t.Parallel()
	p, other := newPlant(t, 2), newPlant(t, 1)
	p.put("ours")
	other.put("theirs")
	undivert := p.divert(other)
	p.scale(1)
	p.blockedBy(v1alpha1.ErrOtherCluster, "another cluster answers", string(other.get().Status.ClusterID))
	p.notReady(v1alpha1.ReasonBlocked, "another cluster answers")
	p.told("Blocked: ERR_OTHER_CLUSTER: ")
	p.passes(2)
	if v, err := viewAt(t.Context(), nil, p.member(0)); err != nil || len(v.Members) != 2 {
		t.Errorf("%v (%v), want both members", v, err)
	}
	other.lists("main-0")
	undivert()
	p.settled(1)
	p.want(1)
	p.kept()
	other.kept()
}

// divert lets the client Service lead to another plant's member alone: that is added,
// and the own members lose their readiness. undivert takes it back.
func (p *plant) divert(other *plant) (undivert func()) {
	p.t.Helper()
	pods, err := other.pods(p.t.Context())
	must(p.t, err)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: p.ns, Name: "astray", Labels: map[string]string{discoveryv1.LabelServiceName: p.name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{pods[0].Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}},
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("client"), Port: ptr.To[int32](2379), Protocol: ptr.To(corev1.ProtocolTCP)}},
	}
	must(p.t, admin.Create(p.t.Context(), slice))
	resume := p.unready()
	return func() {
		p.t.Helper()
		resume()
		must(p.t, admin.Delete(p.t.Context(), slice))
	}
}

// unready takes the readiness of all members away, and leaves etcd alone, until resume;
// a pod that has gone by then needs none.
func (p *plant) unready() (resume func()) {
	p.t.Helper()
	halted, err := p.pods(p.t.Context())
	must(p.t, err)
	for _, pod := range halted {
		must(p.t, shared.Nodes.Halt(p.ns, pod.Name, "guard"))
	}
	must(p.t, cluster.Until(p.t.Context(), "no pod to be ready", func(ctx context.Context) error {
		pods, err := p.pods(ctx)
		if slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return isReady(&pod) }) {
			err = errNotYet
		}
		return err
	}))
	return func() {
		p.t.Helper()
		for _, pod := range halted {
			if err := shared.Nodes.Resume(p.ns, pod.Name, "guard"); p.stays(&pod) {
				must(p.t, err)
			}
		}
	}
}

// stays reports whether this very pod is there and not on its way out.
func (p *plant) stays(pod *corev1.Pod) bool {
	p.t.Helper()
	now := &corev1.Pod{}
	err := admin.Get(p.t.Context(), client.ObjectKeyFromObject(pod), now)
	must(p.t, client.IgnoreNotFound(err))
	return err == nil && now.UID == pod.UID && now.DeletionTimestamp == nil
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
