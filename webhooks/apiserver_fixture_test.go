package webhooks

import (
	"encoding/pem"
	"net/http"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

// apiServer is the API server's own admission plugin, which calls the gate over
// TLS and makes of the answer what a user sees.
type apiServer struct {
	*validating.Plugin
	objects admission.ObjectInterfaces
}

// newAPIServer starts the gate behind a server and registers it.
func newAPIServer(t *testing.T, f *fixture) *apiServer {
	t.Helper()
	gate := f.gate(t)
	r := newRunning(t, nil)
	r.gate = func(w http.ResponseWriter, q *http.Request) { f.spoil(q); gate.ServeHTTP(w, q) }
	r.start(t)
	// A URL's host must be in the certificate; the service's name is for services.
	r.cert.Store(r.ca.sign(t, "localhost"))
	url := "https://localhost" + r.addr[strings.LastIndex(r.addr, ":"):] + Path
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.ca.cert.Raw})
	client := fake.NewClientset(webhookConfiguration(url, bundle), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})

	plugin, err := validating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := webhookutil.NewDefaultAuthenticationInfoResolver("")
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin.SetExternalKubeClientSet(client)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetServiceResolver(webhookutil.NewDefaultServiceResolver())
	plugin.SetAuthenticationInfoResolverWrapper(func(webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver { return resolver })
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	return &apiServer{plugin, admission.NewObjectInterfacesFromScheme(runtime.NewScheme())}
}

func webhookConfiguration(url string, bundle []byte) *admissionregistrationv1.ValidatingWebhookConfiguration {
	fail, none, patient := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, int32(30)
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "quorate-gate"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "gate.quorate.dev", FailurePolicy: &fail, SideEffects: &none, TimeoutSeconds: &patient, AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: bundle},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"quorate.dev"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
			}},
		}},
	}
}

// change is an admission request as the API server makes it within.
func change(object, old runtime.Object, kind schema.GroupVersionKind, subresource string) admission.Attributes {
	gvr := schema.GroupVersionResource{Group: "quorate.dev", Version: "v1alpha1", Resource: "etcds"}
	return admission.NewAttributesRecord(object, old, kind, "ns", "a", gvr, subresource, admission.Update, &metav1.UpdateOptions{}, false, &user.DefaultInfo{Name: "alice"})
}

func etcdChange() admission.Attributes {
	return change(&unstructured.Unstructured{Object: object(4)}, &unstructured.Unstructured{Object: object(3)}, schema.GroupVersionKind{Group: "quorate.dev", Version: "v1alpha1", Kind: "Etcd"}, "")
}

func scaleChange(from, to int32) admission.Attributes {
	scale := func(replicas int32) *autoscalingv1.Scale {
		return &autoscalingv1.Scale{
			TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"}, ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns"},
			Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
		}
	}
	return change(scale(to), scale(from), autoscalingv1.SchemeGroupVersion.WithKind("Scale"), "scale")
}
