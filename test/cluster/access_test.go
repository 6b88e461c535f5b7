package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// whoami is what the API server takes a kubeconfig's holder for.
func whoami(t *testing.T, who *Access) (user string, groups []string) {
	t.Helper()
	var review struct {
		Status struct {
			UserInfo struct {
				Username string
				Groups   []string
			}
		}
	}
	if err := json.Unmarshal([]byte(kubectl(t, who, "auth", "whoami", "-o", "json").Stdout), &review); err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo.Username, review.Status.UserInfo.Groups
}

func TestAUserHasItsNameItsGroupsAndNoRights(t *testing.T) {
	access, err := shared.AddUser("maria@example.com", "operators", "night-shift")
	if err != nil {
		t.Fatal(err)
	}
	user, groups := whoami(t, access)
	if user != "maria@example.com" || user != access.User {
		t.Errorf("the server knows it as %q", user)
	}
	if want := []string{"operators", "night-shift", "system:authenticated"}; !slices.Equal(groups, want) {
		t.Errorf("groups are %q, want %q", groups, want)
	}
	result, err := shared.Kubectl(t.Context(), access.Kubeconfig, "get", "namespaces")
	want := "Error from server (Forbidden): namespaces is forbidden: User \"maria@example.com\" cannot list resource \"namespaces\" in API group \"\" at the cluster scope\n"
	if err != nil || result.Code != 1 || result.Stderr != want {
		t.Errorf("answer is %+v, %v; want exit code 1 and %q", result, err, want)
	}
}

func TestAServiceAccountActsByItsToken(t *testing.T) {
	namespace := makeNamespace(t)
	kubectl(t, shared.Admin(), "create", "serviceaccount", "robot", "-n", namespace)
	access, err := shared.ServiceAccount(t.Context(), namespace, "robot")
	if err != nil {
		t.Fatal(err)
	}
	user, groups := whoami(t, access)
	if user != "system:serviceaccount:"+namespace+":robot" || user != access.User {
		t.Errorf("the server knows it as %q, Access as %q", user, access.User)
	}
	if !slices.Contains(groups, "system:serviceaccounts:"+namespace) {
		t.Errorf("groups are %q", groups)
	}
	client, err := kubernetes.NewForConfig(access.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("without a role it may list secrets: %v", err)
	}
}

func TestATokenOfNobody(t *testing.T) {
	_, err := shared.ServiceAccount(t.Context(), "default", "nobody")
	want := `request a token of ServiceAccount default/nobody: serviceaccounts "nobody" not found`
	if err == nil || err.Error() != want || !apierrors.IsNotFound(err) {
		t.Errorf("error is %v, want %q", err, want)
	}
}

func TestKubectlStopsAtTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := shared.Kubectl(ctx, shared.Admin().Kubeconfig, "get", "namespaces", "--watch")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "kubectl get namespaces --watch: ") {
		t.Errorf("error is %v", err)
	}
}

func TestKubectlSeesNothingOfThePersonsOwn(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "other"))
	kubectl(t, shared.Admin(), "get", "namespaces")
	left, err := os.ReadDir(home)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the person's home: %v, %v", left, err)
	}
}
