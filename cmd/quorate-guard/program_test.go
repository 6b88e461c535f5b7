package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The agent runs in every member's pod: it stays small and knows no Kubernetes.
func TestNoKubernetes(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		if strings.HasPrefix(pkg, "k8s.io/") || strings.HasPrefix(pkg, "sigs.k8s.io/controller-runtime") {
			t.Errorf("it has %s", pkg)
		}
	}
}

// maxSize is in bytes.
const maxSize = 25 << 20

func TestSize(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "quorate-guard")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil || info.Size() >= maxSize {
		t.Errorf("%v, %d bytes, and it should be below %d", err, info.Size(), maxSize)
	}
}

// What the agent starts is in its image: copied, not left out of what Docker sees,
// and built.
func TestImageHasTheReader(t *testing.T) {
	for file, wanted := range map[string]string{
		"Dockerfile":    "COPY bin/quorate bin/quorate-guard bin/" + readerName + " /",
		".dockerignore": "!bin/" + readerName,
		"Makefile":      "\tgo build -ldflags '-s -w' -o bin/ ./cmd/quorate-guard ./cmd/" + readerName,
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(strings.Split(string(content), "\n"), wanted) {
			t.Errorf("%s has no line %q", file, wanted)
		}
	}
}
