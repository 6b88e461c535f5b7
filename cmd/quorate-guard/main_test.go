package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asNobody makes the test binary quorate-guard, run by a user without rights.
const asNobody = "QUORATE_GUARD_AS_NOBODY"

const nobody = 65534

// TestMain is quorate-guard where a test wants it run by another user; else it builds
// the reader, and runs the tests as if they were beside it.
func TestMain(m *testing.M) {
	if os.Getenv(asNobody) == "" {
		os.Exit(withReader(m.Run))
	}
	if os.Geteuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			panic(err)
		}
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

func withReader(run func() int) int {
	dir, err := os.MkdirTemp("", "quorate-guard")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, readerName), "../quorate-guard-reader").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build the reader: %v: %s", err, out))
	}
	executable = func() (string, error) { return filepath.Join(dir, "quorate-guard"), nil }
	return run()
}

const config = `dataDir: DATA
peerURLs: ["http://127.0.0.1:1"]
clientURLs: ["http://127.0.0.1:1"]
cluster:
  token: t
  replicas: 1
  founders: [{name: main-0, peerURLs: ["http://127.0.0.1:1"]}]
`

// place is a folder with a configuration; it answers the folder and common flags.
func place(t *testing.T, content string) (string, []string) {
	t.Helper()
	dir := t.TempDir()
	content = strings.ReplaceAll(content, "DATA", filepath.Join(dir, "data"))
	file := filepath.Join(dir, "guard.yaml")
	for _, err := range []error{
		os.WriteFile(file, []byte(content), 0o644),
		os.WriteFile(filepath.Join(dir, "message"), nil, 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"--config", file, "--name", "main-0", "--list-timeout", "100ms"}
}

func prepare(dir string, flags []string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	args := append([]string{"prepare", "--etcd-config", filepath.Join(dir, "etcd.yaml"), "--termination-message", filepath.Join(dir, "message")}, flags...)
	code = run(context.Background(), args, &out, &complaints)
	return code, out.String(), complaints.String()
}

// listing names every file below dir, and what is in it, but for the termination
// message.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "message" {
			return err
		}
		content, err := os.ReadFile(path)
		out.WriteString(path + ": " + string(content) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
