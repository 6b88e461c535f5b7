package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asNobody makes the test binary quorate-guard, run by a user without rights.
const asNobody = "QUORATE_GUARD_AS_NOBODY"

const nobody = 65534

// TestMain is quorate-guard where the program calls itself, or a test wants it run
// by another user: without that, a child would run all tests, and so would its.
func TestMain(m *testing.M) {
	unprivileged := os.Getenv(asNobody) != ""
	if !unprivileged && (len(os.Args) < 2 || os.Args[1] != readCommand) {
		os.Exit(m.Run())
	}
	if unprivileged && os.Geteuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			panic(err)
		}
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
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
