package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/quorate/quorate/api/v1alpha1"
)

// liveAPI is an API server with a cluster of two control planes, a backup, and nobody who
// may read Secrets. It keeps what is created.
type liveAPI struct {
	mu      sync.Mutex
	allowed bool
	user    string // who asks; empty if the server does not tell
	extra   string // another TalosOperation
	created []v1alpha1.TalosOperation
	asked   []string
}

const liveMachine = `{"metadata":{"namespace":"default","name":"NAME"},"spec":{"clusterRef":{"name":"prod"},"role":"controlplane","approved":true,"endpoint":"ADDRESS"}}`

func (a *liveAPI) list(resource string) string {
	switch resource {
	case "talosclusters":
		return `{"metadata":{"namespace":"default","name":"prod"},"spec":{"secretsBundleRef":{"name":"bundle"}}}`
	case "talosetcdbackups":
		return `{"metadata":{"namespace":"default","name":"nightly"},"spec":{"clusterRef":{"name":"prod"},"objectStore":{"bucket":"backups","credentialsRef":{"name":"keys"}}},
			"status":{"snapshots":[{"name":"etcd-20300102T150405Z.snapshot.age","time":"2030-01-02T15:04:05Z","size":1,"revision":40}]}}`
	case "talosmachines":
		return strings.NewReplacer("NAME", "cp-a", "ADDRESS", "127.0.0.1").Replace(liveMachine) + "," + strings.NewReplacer("NAME", "cp-b", "ADDRESS", "127.0.0.2").Replace(liveMachine)
	case "talosoperations":
		return a.extra
	}
	return ""
}

func (a *liveAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	a.asked = append(a.asked, r.Method+" "+last)
	switch {
	case r.Method == http.MethodPost && last == "selfsubjectaccessreviews":
		_, _ = fmt.Fprintf(w, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":%t}}`, a.allowed && mayBeAsked(r))
	case r.Method == http.MethodPost && last == "selfsubjectreviews" && a.user != "":
		_, _ = fmt.Fprintf(w, `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","status":{"userInfo":{"username":%q}}}`, a.user)
	case last == "selfsubjectreviews":
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPost && last == "talosoperations":
		var op v1alpha1.TalosOperation
		_ = json.NewDecoder(r.Body).Decode(&op)
		a.created = append(a.created, op)
		_ = json.NewEncoder(w).Encode(op)
	case strings.Contains(r.URL.Path, "/secrets/"):
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"you may not get Secret `+last+`"}`)
	case strings.Contains(r.URL.Path, "/talosoperations/"):
		a.created[0].Status.Phase = v1alpha1.PhaseCompleted
		_ = json.NewEncoder(w).Encode(a.created[0])
	default:
		version, kinds := "v1", strings.ToUpper(last[:1])+last[1:]
		if names := map[string]string{"talosclusters": "TalosCluster", "talosetcdbackups": "TalosEtcdBackup", "talosmachines": "TalosMachine", "talosoperations": "TalosOperation"}; names[last] != "" {
			version, kinds = "quorate.dev/v1alpha1", names[last]
		} else {
			kinds = "Pod"
		}
		_, _ = io.WriteString(w, `{"kind":"`+kinds+`List","apiVersion":"`+version+`","metadata":{"resourceVersion":"52"},"items":[`+a.list(last)+`]}`)
	}
}

// mayBeAsked tells whether an access review is about the verb that a restore takes.
func mayBeAsked(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	found, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	review, ok := found.(*authorizationv1.SelfSubjectAccessReview)
	return err == nil && ok && *review.Spec.ResourceAttributes == authorizationv1.ResourceAttributes{
		Namespace: "default", Verb: "override", Group: "quorate.dev", Resource: "talosclusters", Name: "prod",
	}
}

func runLiveCommand(t *testing.T, a *liveAPI, in string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	root := newRestoreCommand()
	root.SilenceUsage, root.SilenceErrors = true, true
	var out, errs bytes.Buffer
	root.SetArgs(append([]string{"--live", "--server", server.URL, "-n", "default"}, args...))
	root.SetIn(strings.NewReader(in))
	root.SetOut(&out)
	root.SetErr(&errs)
	err := root.ExecuteContext(context.Background())
	if err != nil {
		errs.WriteString("quorate: " + err.Error() + "\n")
	}
	return exitCode(err), out.String(), strings.ReplaceAll(errs.String(), server.URL, "SERVER")
}
