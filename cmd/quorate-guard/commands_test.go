package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/agent"
)

// A refusal is one line, in the termination message as on stderr.
func TestRefusal(t *testing.T) {
	dir, flags := place(t, strings.Replace(config, "replicas: 1", "replicas: 0", 1))
	code, _, stderr := prepare(dir, append(flags, "--patience", "10ms"))
	message, err := os.ReadFile(filepath.Join(dir, "message"))
	if err != nil {
		t.Fatal(err)
	}
	want := "ErrBeyondReplicas: the ordinal is beyond the replicas: ordinal 0 has no place in 0 replicas, and its disk is empty: it is deleted by the controller\n"
	if code != agent.ExitBeyondReplicas || string(message) != want || !strings.HasSuffix(stderr, want) {
		t.Errorf("exit code %d, message %q, stderr %q", code, message, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "etcd.yaml")); !os.IsNotExist(err) {
		t.Errorf("etcd's configuration was written: %v", err)
	}
}

func TestFounder(t *testing.T) {
	dir, flags := place(t, config)
	if code, _, stderr := prepare(dir, flags); code != agent.ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	written, err := os.ReadFile(filepath.Join(dir, "etcd.yaml"))
	if err != nil || !strings.Contains(string(written), "initial-cluster: main-0=http://127.0.0.1:1\n") {
		t.Errorf("%v\n%s", err, written)
	}
	if message, err := os.ReadFile(filepath.Join(dir, "message")); err != nil || len(message) > 0 {
		t.Errorf("a termination message without a refusal: %q, %v", message, err)
	}
}

func TestWaitIsBounded(t *testing.T) {
	dir, flags := place(t, strings.Replace(config, "token: t", "token: t\n  id: c", 1))
	code, _, stderr := prepare(dir, append(flags, "--patience", "10ms"))
	if want := "ErrWaited: waited for too long (0s): not yet: this disk is empty and cluster c does not answer (there is no endpoint to ask): heal its members; if all their disks are lost, restore it from a backup"; code != agent.ExitWaited || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestCheck(t *testing.T) {
	_, flags := place(t, config)
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), append([]string{"check", "-o", "json"}, flags...), &stdout, &stderr); code != agent.ExitOK || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	var r report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || r.Action != "start as a founder" || r.By != "configuration" || r.Disk != "no WAL" {
		t.Errorf("%v\n%s", err, &stdout)
	}
	stdout.Reset()
	if code := run(context.Background(), append([]string{"check"}, flags...), &stdout, &stderr); code != agent.ExitOK {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	want := "start as a founder (by configuration)\nthe cluster has never formed, and this member is one of its founders\ndisk: no WAL\nremoved, by the ledger: no; by the tombstone: not asked; by the log: not asked\n"
	if stdout.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &stdout, want)
	}
	if code := run(context.Background(), append([]string{"check", "-o", "xml"}, flags...), &stdout, &stderr); code != agent.ExitUsage {
		t.Errorf("exit code %d for an unknown output", code)
	}
}

// A look that is cut off is no verdict: neither a refusal nor a start.
func TestStoppedWhileItLooks(t *testing.T) {
	for name, content := range map[string]string{
		"a founder":         config,
		"an unreadable WAL": strings.Replace(config, "token: t", "token: t\n  id: c", 1),
	} {
		dir, flags := place(t, strings.Replace(content, "replicas: 1", "replicas: 1\n  clientEndpoints: [\"http://127.0.0.1:1\"]", 1))
		if name != "a founder" {
			wal := filepath.Join(dir, "data", "member", "wal")
			if err := errors.Join(os.MkdirAll(wal, 0o700), os.WriteFile(filepath.Join(wal, "0000000000000000-0000000000000000.wal"), []byte("no WAL"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		var stderr bytes.Buffer
		code := run(ctx, append([]string{"prepare", "--etcd-config", filepath.Join(dir, "etcd.yaml"), "--termination-message", filepath.Join(dir, "message")}, append(flags, "--list-timeout", "1m")...), &stderr, &stderr)
		cancel()
		if code != agent.ExitFailed || !strings.Contains(stderr.String(), "ErrFailed: list the members: context deadline exceeded") {
			t.Errorf("%s: exit code %d: %s", name, code, &stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "etcd.yaml")); !os.IsNotExist(err) {
			t.Errorf("%s: etcd's configuration was written: %v", name, err)
		}
	}
}

// Where nobody can look into the database of a disk without a WAL, no founder starts.
//
//
func TestFounderWithoutReader(t *testing.T) {
	reader := beside(t)
	dir, flags := place(t, config)
	code, _, stderr := prepare(dir, append(flags, "--patience", "10ms"))
	want := "ErrDiskLost: the member's disk is lost: the disk has no WAL, and whether it has a database with data cannot be told (the reader " + reader + " is missing: install it), so this founder may have run"
	if code != agent.ExitDiskLost || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
