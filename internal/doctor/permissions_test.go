package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// With no permission at all, nothing is guessed: every check names what it needs.
func TestWithoutPermissions(t *testing.T) {
	c := healthy(t)
	c.react("*", "*", apierrors.NewForbidden(schema.GroupResource{}, "x", nil))
	c.config.Prober = prober{err: &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
		Message: `etcds.quorate.dev is forbidden: User "alice" cannot create resource "etcds" in API group "quorate.dev"`}}}
	needs := map[string]string{
		"crds": "get customresourcedefinitions.apiextensions.k8s.io", "policies": "list validatingadmissionpolicies.admissionregistration.k8s.io",
		"manager": "get deployments.apps in quorate-system", "webhook-configuration": "get validatingwebhookconfigurations.admissionregistration.k8s.io",
		"webhook-endpoints": "get validatingwebhookconfigurations", "webhook-answers": "create etcds.quorate.dev in quorate-system",
		"certificate-authority": "get validatingwebhookconfigurations", "serving-certificate": "get validatingwebhookconfigurations",
		"controller-identity": "list clusterrolebindings.rbac.authorization.k8s.io",
	}
	for _, check := range c.examine(t).Checks {
		if check.Name == "server-version" {
			continue // every user may read it
		}
		named := slices.ContainsFunc(check.Findings, func(f Finding) bool { return strings.Contains(f.WayOut, needs[check.Name]) })
		guessed := slices.ContainsFunc(check.Findings, func(f Finding) bool { return f.State != Unknown })
		if guessed || needs[check.Name] == "" || !named {
			t.Errorf("%s is %s %+v\nwant it unknown, for want of %q", check.Name, check.State, check.Findings, needs[check.Name])
		}
	}
}

// Partial permissions: what can be seen is judged, and what cannot is named.
func TestSecretOutOfReach(t *testing.T) {
	c := healthy(t)
	c.react("secrets", "get", apierrors.NewForbidden(schema.GroupResource{}, "x", nil))
	check := c.examine(t).check(t, "certificate-authority")
	want := []Finding{{Unknown, "the Secret quorate-system/quorate-webhook-ca may not be read by you",
		"Ask for the permission to get secrets quorate-webhook-ca in quorate-system, or let somebody run this who has it."}}
	if check.State != Unknown || !slices.Equal(check.Findings, want) {
		t.Errorf("got %+v\nwant %+v", check.Findings, want)
	}
}

func TestRolesOutOfReach(t *testing.T) {
	c := healthy(t)
	c.react("roles", "list", errors.New("boom"))
	check := c.examine(t).check(t, "controller-identity")
	if check.State != Unknown || check.Findings[0].Seen != "roles could not be read: boom" {
		t.Errorf("got %s %+v, want it unknown for want of the roles", check.State, check.Findings)
	}
}

// A server that accepts and never answers ends the examination in time.
func TestSilentServer(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(context.Background(), Config{Kube: kube, Timeout: 50 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Run(ctx, healthy(t).config)
	if !errors.Is(err, context.Canceled) || len(r.Checks) != 0 {
		t.Errorf("got %v with %d checks, want an end", err, len(r.Checks))
	}
}
