package snapshot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// none checks that no child is left. Each was waited for, so there is nothing to wait for here.
func none(t testing.TB) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	must(t, err)
	for _, path := range tasks {
		if children, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(children)) > 0 {
			t.Errorf("children are left: %s", children)
		}
	}
}

// settled waits until there are no more goroutines than there were.
func settled(t testing.TB, before int) {
	t.Helper()
	deadline, tick := time.After(10*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d goroutines, and there were %d:\n%s", runtime.NumGoroutine(), before, stacks())
		}
	}
}

func stacks() string {
	buffer := make([]byte, 1<<20)
	return string(buffer[:runtime.Stack(buffer, true)])
}

// Nothing is left of any way that a piece of work ends.
func TestNothingIsLeft(t *testing.T) {
	k, plain := keyFor(t), summedOf(t, 1<<20)
	object, _ := sealed(t, plain, k)
	before := runtime.NumGoroutine()
	for i := range 20 {
		_, errs := Seal(&broken{left: 50_000 * i}, bytes.NewReader(plain), k)
		_, errr := Seal(io.Discard, &broken{bytes.NewReader(plain), 40_000 * i}, k)
		_, errv := Verify(&broken{bytes.NewReader(object), 40_000 * i}, k)
		_, errt := Verify(bytes.NewReader(object[:40_000*i]), k)
		if errs == nil || errr == nil || errv == nil || errt == nil {
			t.Fatalf("%d: %v, %v, %v, %v", i, errs, errr, errv, errt)
		}
	}
	for role := range roles {
		if strings.HasPrefix(role, "hangs") {
			continue // TestAChildThatHangs
		}
		w := playing(t, role)
		for _, err := range w.Keys(t.Context(), "x", "") {
			_ = fmt.Sprint(err)
			break
		}
	}
	none(t)
	settled(t, before)
}
