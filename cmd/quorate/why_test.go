package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/internal/why"
)

const bigger = `
apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: orders}
spec: {replicas: 5}
`

// orders is the live object.
const orders = `{"apiVersion":"quorate.dev/v1alpha1","kind":"Etcd","metadata":{"name":"orders","namespace":"data","resourceVersion":"7"},
"spec":{"replicas":3},"status":{"conditions":[{"type":"ScaleOperationInProgress","status":"True","reason":"ScalingIn"}]}}`

const refusedText = "Scaling out from 3 to 5 replicas is refused: ScalingIn is in progress. Wait until condition ScaleOperationInProgress is False, then scale out again. (scale-out-blocked)"

// fakeAPI speaks as much of the API as one question needs. patch answers PATCH.
func fakeAPI(t *testing.T, patch func(w http.ResponseWriter, body string)) string {
	t.Helper()
	answers := map[string]string{
		"GET /api":                       `{"kind":"APIVersions","versions":["v1"]}`,
		"GET /apis":                      `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"quorate.dev","versions":[{"groupVersion":"quorate.dev/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"quorate.dev/v1alpha1","version":"v1alpha1"}}]}`,
		"GET /api/v1":                    `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`,
		"GET /apis/quorate.dev/v1alpha1": `{"kind":"APIResourceList","groupVersion":"quorate.dev/v1alpha1","resources":[{"name":"etcds","singularName":"etcd","namespaced":true,"kind":"Etcd","verbs":["get","patch"]}]}`,
		"GET /apis/quorate.dev/v1alpha1/namespaces/data/etcds/orders": orders,
		"POST /apis/authentication.k8s.io/v1/selfsubjectreviews":      `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","status":{"userInfo":{"username":"alice"}}}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPatch {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			patch(w, string(body))
			return
		}
		answer, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			t.Errorf("asked %s %s", r.Method, r.URL.Path)
			http.NotFound(w, r)
			return
		}
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// why runs the command against a server.
func runWhyCommand(t *testing.T, server string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	file := filepath.Join(t.TempDir(), "etcd.yaml")
	if err := os.WriteFile(file, []byte(bigger), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args = append([]string{"why", "-f", file, "-n", "data", "--server", server, "--cache-dir", t.TempDir()}, args...)
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestWhyRefused(t *testing.T) {
	url := fakeAPI(t, func(w http.ResponseWriter, body string) {
		if want := `{"metadata":{"resourceVersion":"7"},"spec":{"replicas":5}}`; body != want {
			t.Errorf("patch %s, want %s", body, want)
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
		status := metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid,
			Code: http.StatusUnprocessableEntity, Message: `Etcd.quorate.dev "orders" is invalid: spec.replicas: Forbidden: ` + refusedText,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "FieldValueForbidden", Field: "spec.replicas", Message: "Forbidden: " + refusedText}}}}
		if err := json.NewEncoder(w).Encode(status); err != nil {
			t.Error(err)
		}
	})
	code, out, errs := runWhyCommand(t, url)
	want := `UPDATE of etcds.quorate.dev/orders in data by alice: deny
LAYER    VERDICT  SOURCE    RULE               MESSAGE
rbac     allow    server    -                  -
schema   allow    server    -                  -
crd      deny     server    scale-out-blocked  spec.replicas: ` + refusedText + `
vap      deny     computed  scale-out-blocked  spec.replicas: ` + refusedText + `
webhook  deny     computed  scale-out-blocked  spec.replicas: ` + refusedText + `
`
	if code != exitFailed || out != want || errs != "quorate: the API server refuses it\n" {
		t.Errorf("exit %d, stderr %q, got\n%s\nwant\n%s", code, errs, out, want)
	}
}

func TestWhyAllowedAsData(t *testing.T) {
	url := fakeAPI(t, func(w http.ResponseWriter, _ string) {
		w.Header().Add("Warning", `299 - "think twice"`)
		if _, err := io.WriteString(w, orders); err != nil {
			t.Error(err)
		}
	})
	code, out, errs := runWhyCommand(t, url, "-o", "json")
	var report why.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if code != exitOK || errs != "" || report.Cases[0].Verdict != why.Allow || report.Cases[0].Warnings[0] != "think twice" {
		t.Errorf("exit %d, stderr %q, got %s", code, errs, out)
	}
}

func TestWhyUsage(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"why"}, "which object? Give its file with -f, or - for standard input"},
		{[]string{"why", "-f", "x", "-o", "xml"}, `unknown output "xml"; want one of table, json, yaml`},
		{[]string{"why", "-f", "x", "--replicas", "3"}, "contradictory question: a number of replicas needs the subresource scale"},
		{[]string{"why", "-f", "x", "--delete", "--subresource", "status"}, "contradictory question: a delete has no subresource and replaces nothing"},
		{[]string{"why", "-f", "x", "y"}, `unknown command "y" for "quorate why"`},
		{[]string{"why", "--nothing"}, "unknown flag: --nothing"},
		{[]string{"doctor", "-o", "xml"}, `unknown output "xml"; want one of table, json, yaml`},
		{[]string{"doctor", "x"}, `unknown command "x" for "quorate doctor"`},
	} {
		var out, errs bytes.Buffer
		code := run(context.Background(), tc.args, &out, &errs)
		if got := strings.TrimSuffix(errs.String(), "\n"); code != exitUsage || got != "quorate: "+tc.want {
			t.Errorf("%v: exit %d, %q, want %d, %q", tc.args, code, got, exitUsage, tc.want)
		}
	}
}

// Nobody listens there: that is a failure, and no refusal.
func TestWithoutServer(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	code, out, errs := runWhyCommand(t, "http://127.0.0.1:1")
	if code != exitFailed || out != "" || !strings.Contains(errs, "connection refused") {
		t.Errorf("why: exit %d, %q, %q", code, out, errs)
	}
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), []string{"doctor", "--server", "http://127.0.0.1:1"}, &stdout, &stderr)
	if code != exitFailed || stdout.Len() != 0 || !strings.HasPrefix(stderr.String(), "quorate: ask the API server for its version: ") {
		t.Errorf("doctor: exit %d, %q, %q", code, stdout.String(), stderr.String())
	}
}
