package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestClientAndServerAreTheVersionAskedFor(t *testing.T) {
	result := kubectl(t, shared.Admin(), "version", "-o", "json")
	var versions struct {
		ClientVersion, ServerVersion struct{ GitVersion, Major, Minor string }
	}
	if err := json.Unmarshal([]byte(result.Stdout), &versions); err != nil {
		t.Fatalf("%v in %s", err, result.Stdout)
	}
	if versions.ClientVersion != versions.ServerVersion {
		t.Errorf("kubectl is %v, the server %v", versions.ClientVersion, versions.ServerVersion)
	}
	server := versions.ServerVersion
	if !strings.HasPrefix(server.GitVersion, "v"+server.Major+"."+server.Minor+".") {
		t.Errorf("the server says %+v", server)
	}
	if want := os.Getenv(VersionVariable); want != "" && server.Major+"."+server.Minor != want {
		t.Errorf("the server is %s, asked for %s", server.GitVersion, want)
	}
}

func TestControllerManagerFinalizesNamespaces(t *testing.T) {
	namespace := makeNamespace(t)
	namespaces := shared.Client().CoreV1().Namespaces()
	if err := namespaces.Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err := Until(t.Context(), "the end of "+namespace, func(ctx context.Context) error {
		left, err := namespaces.Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("%s %v", left.Status.Phase, left.Status.Conditions)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAuditEventsAreWritten(t *testing.T) {
	namespace := makeNamespace(t)
	kubectl(t, shared.Admin(), "create", "configmap", "audited", "-n", namespace)
	err := Until(t.Context(), "an audit event", func(context.Context) error {
		content, err := os.ReadFile(shared.AuditLog())
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(content)) {
			var event struct {
				Verb      string
				ObjectRef struct{ Namespace, Name string }
				User      struct{ Username string }
			}
			if json.Unmarshal([]byte(line), &event) == nil && event.Verb == "create" &&
				event.ObjectRef.Name == "audited" &&
				event.ObjectRef.Namespace == namespace && event.User.Username == shared.Admin().User {
				return nil
			}
		}
		return fmt.Errorf("no event of the ConfigMap in %s in %d bytes", namespace, len(content))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestARestartKeepsAddressDataAndIdentities(t *testing.T) {
	restartKeeps(t, (*Cluster).RestartAPIServer)
}

func TestAKillKeepsAddressDataAndIdentities(t *testing.T) {
	restartKeeps(t, (*Cluster).KillAPIServer)
}

func restartKeeps(t *testing.T, restart func(*Cluster, context.Context) error) {
	t.Helper()
	c := start(t, Options{Dir: t.TempDir()})
	user, err := c.AddUser("before-the-restart", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := c.Client().CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, filepath.Join(c.Dir, "run", "kube-apiserver.pid"))
	watch, err := c.Client().CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	began := time.Now()
	if err := restart(c, t.Context()); err != nil {
		t.Fatal(err)
	}
	// An open watch must not hold up the stop until the server's own limit of a minute.
	if took := time.Since(began); took > 50*time.Second {
		t.Errorf("the restart took %s", took)
	}
	if after := readFile(t, filepath.Join(c.Dir, "run", "kube-apiserver.pid")); after == before {
		t.Error("the process is the same one")
	}
	result, err := c.Kubectl(t.Context(), user.Kubeconfig, "get", "configmap", "kept", "-o", "name")
	if err != nil || result.Stdout != "configmap/kept\n" {
		t.Errorf("after the restart: %+v, %v", result, err)
	}
}

func TestAStartThatFailsSaysWhyAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := Start(t.Context(), Options{Dir: dir, APIServerFlags: map[string][]string{"no-such-flag": {"1"}}})
	if err == nil {
		t.Fatal("it started")
	}
	for _, want := range []string{"start the control plane: ", "--- kube-apiserver.log", "unknown flag: --no-such-flag"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	waitForEnd(t, dir)
}

func TestStartRefusals(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct {
		name, dir string
		options   Options
		want      string
	}{
		{"a version that is not pinned", "", Options{Version: "1.5", Progress: os.Stdout}, "find or build the control plane's binaries"},
		{"a folder outside", outside, Options{}, errOutsideModule.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", "")
			if c.dir != "" {
				t.Chdir(c.dir)
			}
			_, err := Start(t.Context(), c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestNothingOutlivesAKilledStarter(t *testing.T) {
	starter := exec.CommandContext(t.Context(), os.Args[0])
	starter.Env = append(os.Environ(), orphanVariable+"=1")
	starter.Stderr = os.Stderr
	out, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir = strings.TrimSpace(dir)
	pids := processes(t, dir)
	if len(pids) != 2 {
		t.Fatalf("%d processes recorded, want etcd and kube-apiserver", len(pids))
	}
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait() // it was killed
	waitForProcesses(t, pids)
	err = Until(t.Context(), "the folder's removal", func(context.Context) error {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is there (%v)", dir, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// start runs another control plane for one test.
func start(t *testing.T, options Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.Logs())
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		waitForEnd(t, c.Dir)
		if err := c.Stop(); err != nil {
			t.Errorf("the second stop: %v", err)
		}
	})
	return c
}

// waitForEnd waits until no process of the folder's control plane runs.
func waitForEnd(t *testing.T, dir string) { waitForProcesses(t, processes(t, dir)) }

func waitForProcesses(t *testing.T, pids map[string]int) {
	t.Helper()
	err := Until(context.Background(), "the end of the processes", func(context.Context) error {
		for name, pid := range pids {
			if err := syscall.Kill(pid, 0); err == nil {
				return fmt.Errorf("%s (process %d) runs", name, pid)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// processes reads the recorded process IDs by name.
func processes(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "run", "*.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, file := range files {
		pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		pids[filepath.Base(file)] = pid
	}
	return pids
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// makeNamespace makes one that only this test uses.
func makeNamespace(t *testing.T) string {
	t.Helper()
	made, err := shared.Client().CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

// kubectl runs it on the shared control plane; it must succeed.
func kubectl(t *testing.T, who *Access, args ...string) Result {
	t.Helper()
	result, err := shared.Kubectl(t.Context(), who.Kubeconfig, args...)
	if err != nil || result.Code != 0 {
		t.Fatalf("kubectl %v: %+v, %v", args, result, err)
	}
	return result
}
