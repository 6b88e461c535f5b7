package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

// quorate runs the command as an actor, as a person would.
func quorate(t *testing.T, actor, stdin string, args ...string) cluster.Result {
	t.Helper()
	access, err := shared.Access(actor)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), shared.Binary, args...)
	cmd.Env = []string{"KUBECONFIG=" + access.Kubeconfig, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cluster.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// verdicts is the part of `quorate why -o json` that we look at.
type verdicts struct {
	Cases []struct {
		Verdict string
		Layers  []struct{ Layer, Verdict, Source, Rule, Message string }
	}
}

func why(t *testing.T, actor, object string, args ...string) (verdicts, int) {
	t.Helper()
	result := quorate(t, actor, object, append([]string{"why", "-f", "-", "-o", "json"}, args...)...)
	var v verdicts
	if err := json.Unmarshal([]byte(result.Stdout), &v); err != nil || len(v.Cases) != 1 {
		t.Fatalf("quorate why: %v: %s%s", err, result.Stdout, result.Stderr)
	}
	return v, result.Code
}

// refusing is the layer whose refusal came from the server, and its rule.
func (v verdicts) refusing() (layer, rule string) {
	for _, l := range v.Cases[0].Layers {
		if l.Verdict == "deny" && l.Source == "server" {
			return l.Layer, l.Rule
		}
	}
	return "", ""
}

// checks are the states of `quorate doctor` by check, and everything it has seen.
func checks(t *testing.T, actor string) (states map[string]string, seen string, code int) {
	t.Helper()
	// The deadline is for people; a busy test machine takes its time.
	result := quorate(t, actor, "", "doctor", "-o", "json", "--timeout", "1m")
	var report struct {
		Checks []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(result.Stdout), &report); err != nil {
		t.Fatalf("quorate doctor: %v: %s%s", err, result.Stdout, result.Stderr)
	}
	states = map[string]string{}
	for _, check := range report.Checks {
		states[check.Name] = check.State
	}
	return states, result.Stdout, result.Code
}

// here is what doctor finds in every world of ours: its managers are processes,
// so there is no Deployment and no endpoint in the API.
var here = map[string]string{"manager": "failed", "webhook-endpoints": "failed", "serving-certificate": "unknown"}

// otherwise lists the checks that are not ok and not as in every world of ours.
func otherwise(states map[string]string) map[string]string {
	found := map[string]string{}
	for name, state := range states {
		if want, ok := here[name]; state != "ok" && (!ok || want != state) {
			found[name] = state
		}
	}
	return found
}

func TestDoctor(t *testing.T) {
	states, seen, code := checks(t, world.Admin)
	if bad := otherwise(states); len(bad) > 0 || len(states) < 10 || code != 1 {
		t.Errorf("not in order: %v, exit code %d: %s", bad, code, seen)
	}
	states, seen, _ = checks(t, world.Alice)
	for _, name := range []string{"crds", "policies", "webhook-configuration", "controller-identity"} {
		if states[name] != "unknown" {
			t.Errorf("without rights, %s is %s", name, states[name])
		}
	}
	if !strings.Contains(seen, "customresourcedefinitions") {
		t.Errorf("it does not say which right is missing: %s", seen)
	}
}

// TestDoctorFindsWhoMayActAsTheController: the exemption is worth what the
// identity behind it is.
func TestDoctorFindsWhoMayActAsTheController(t *testing.T) {
	ns := world.Namespace
	kubectl(t, world.Admin, ns, "", "create", "role", "may-make-tokens", "--verb=create", "--resource=serviceaccounts/token")
	kubectl(t, world.Admin, ns, "", "create", "rolebinding", "may-make-tokens", "--role=may-make-tokens", "--user=mallory@example.com")
	states, seen, _ := checks(t, world.Admin)
	if states["controller-identity"] != "warning" || !strings.Contains(seen, "mallory@example.com") {
		t.Errorf("controller-identity is %s: %s", states["controller-identity"], seen)
	}
	kubectl(t, world.Admin, ns, "", "delete", "rolebinding", "may-make-tokens")
}

const grown = "apiVersion: quorate.dev/v1alpha1\nkind: Etcd\nmetadata: {name: asked}\nspec: {replicas: 5}\n"

// TestCommandsAcrossLayers switches layers: why tells which one refuses, doctor
// which ones are missing.
func TestCommandsAcrossLayers(t *testing.T) {
	e := given(t, etcd(namespace(t), "asked", 3), script.Busy(v1alpha1.ScaleIn, 5, 3))
	t.Cleanup(func() { must(t, shared.Enforce(context.WithoutCancel(t.Context()), world.AllLayers...)) })
	missing := map[cel.Layer]string{cel.LayerCRD: "crds", cel.LayerVAP: "policies", cel.LayerWebhook: "webhook-configuration"}
	for _, on := range [][]cel.Layer{{}, {cel.LayerWebhook}, {cel.LayerVAP, cel.LayerWebhook}, world.AllLayers} {
		must(t, shared.Enforce(t.Context(), on...))
		testWhy(t, e, on)
		states, seen, _ := checks(t, world.Admin)
		for layer, check := range missing {
			if isOn := slices.Contains(on, layer); (states[check] == "ok") != isOn {
				t.Errorf("with %v, %s is %s: %s", on, check, states[check], seen)
			}
		}
	}
}

func testWhy(t *testing.T, e *v1alpha1.Etcd, on []cel.Layer) {
	t.Helper()
	v, code := why(t, world.Alice, grown, "--namespace="+e.Namespace)
	layer, rule := v.refusing()
	want := ""
	for _, first := range []cel.Layer{cel.LayerCRD, cel.LayerVAP, cel.LayerWebhook} {
		if want == "" && slices.Contains(on, first) {
			want = string(first)
		}
	}
	if layer != want || (want != "" && (rule != "scale-out-blocked" || code != 1)) || (want == "" && code != 0) {
		t.Errorf("with %v: %s refuses by %q, exit code %d: %+v", on, layer, rule, code, v)
	}
	got := &v1alpha1.Etcd{}
	must(t, as(t, world.Alice).Get(t.Context(), client.ObjectKeyFromObject(e), got))
	if got.ResourceVersion != e.ResourceVersion {
		t.Error("quorate why has changed the object")
	}
}

func TestWhyDelete(t *testing.T) {
	ns := namespace(t)
	machine := "apiVersion: quorate.dev/v1alpha1\nkind: TalosMachine\nmetadata: {name: worker}\nspec: {clusterRef: {name: plant}, role: worker, endpoint: 192.0.2.7}\n"
	kubectl(t, world.Alice, ns, machine, "apply", "-f", "-")
	v, code := why(t, world.Alice, machine, "--namespace="+ns, "--delete")
	if layer, rule := v.refusing(); layer != "webhook" || rule != "machine-delete-wants-annotation" || code != 1 {
		t.Errorf("%s refuses by %s, exit code %d: %+v", layer, rule, code, v)
	}
	kubectl(t, world.Alice, ns, "", "get", "talosmachine", "worker")
}
