package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/cert"
)

// doorman is a webhook that refuses everything in its name.
func doorman(t *testing.T, name string, certificate tls.Certificate) (address string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "said by " + name}}
		w.Header().Set("Connection", "close") // the next call is a new connection
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// guarded makes a namespace whose ConfigMaps are judged by a webhook behind a
// Service of that namespace, and the certificate for the Service's name.
func guarded(t *testing.T) (namespace string, certificate tls.Certificate) {
	t.Helper()
	namespace = makeNamespace(t)
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey("door."+namespace+".svc", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if certificate, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "door"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromInt32(9443)}}},
	}
	if _, err := shared.Client().CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	configure(t, namespace, certPEM)
	return namespace, certificate
}

func configure(t *testing.T, namespace string, bundle []byte) {
	t.Helper()
	if block, _ := pem.Decode(bundle); block == nil {
		t.Fatal("no certificate")
	}
	path, none := "/judge", admissionregistrationv1.SideEffectClassNone
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "door.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				CABundle: bundle,
				Service:  &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: "door", Path: &path},
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	hooks := shared.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := hooks.Create(t.Context(), hook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := hooks.Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// knock tries to create a ConfigMap and answers what was said.
func knock(ctx context.Context, namespace string) string {
	_, err := shared.Client().CoreV1().ConfigMaps(namespace).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "knock-"}}, metav1.CreateOptions{})
	return fmt.Sprint(err)
}

func TestTheAPIServerReachesServicesByName(t *testing.T) {
	namespace, certificate := guarded(t)
	left, right := doorman(t, "left", certificate), doorman(t, "right", certificate)
	shared.SetBackends(namespace, "door", left, right)
	said := map[string]int{}
	err := Until(t.Context(), "both backends", func(ctx context.Context) error {
		said[knock(ctx, namespace)]++
		for _, name := range []string{"left", "right"} {
			if said[`admission webhook "door.example.com" denied the request: said by `+name] == 0 {
				return fmt.Errorf("a word of %s; heard %v", name, said)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	shared.SetBackends(namespace, "door")
	refused := knock(t.Context(), namespace)
	if !strings.Contains(refused, `failed calling webhook "door.example.com": failed to call webhook`) {
		t.Errorf("without backends the answer is %q", refused)
	}
}

func TestTheProxyRefusesWhatIsNoService(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"10.0.0.254:443", "find the Service at 10.0.0.254:443: 0 Services have this address"},
		{"nonsense", "find the Service at nonsense: address nonsense: missing port in address"},
		{"10.0.0.1:443", "service default/kubernetes: no backends"},
	} {
		if _, err := shared.proxy.dial(t.Context(), c.address); err == nil || err.Error() != c.want {
			t.Errorf("%s: error is %v, want %q", c.address, err, c.want)
		}
	}
}
