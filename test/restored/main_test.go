package restored

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/test/cluster"
)

// shared is the world of all tests here. A test that changes it brings it back.
var shared *World

// managerVariable names a manager's program that is built already.
const managerVariable = "QUORATE_TEST_MANAGER"

// limit bounds a start, and what a test waits for at once, on a machine that is busy.
const limit = 10 * time.Minute

// hold is how long a restore waits for a process that is gone while an API server answers.
const hold = 45 * time.Second

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	began := time.Now()
	var err error
	if shared, err = Start(ctx, Options{ControlPlanes: 3, Workers: 2, Binary: os.Getenv(managerVariable), ManagerFlags: []string{"--restore-hold=" + hold.String()}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("the world is ready after %s; its API servers have %d MiB\n", time.Since(began).Round(10*time.Millisecond), resident(shared))
	defer func() {
		if code != 0 {
			fmt.Fprintln(os.Stderr, shared.Logs())
		}
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	dir, err := os.MkdirTemp("", "quorate-store-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if objects, err = startStore(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = objects.end() }()
	return m.Run()
}

// resident is the memory of all API servers in MiB, as far as it can be read.
func resident(w *World) (mib int) {
	for _, n := range w.Talos.ControlPlanes() {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", n.APIServerPID()))
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(content)); len(fields) > 1 {
			pages, _ := strconv.Atoi(fields[1])
			mib += pages * os.Getpagesize() >> 20
		}
	}
	return mib
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

var errNotSo = errors.New("it is not so")

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	must(t, cluster.Until(within(t), what, func(context.Context) error {
		if !is() {
			return errNotSo
		}
		return nil
	}))
}

// restarts are those of the manager's container in its pod, by the API.
func restarts(t *testing.T) (count int32) {
	t.Helper()
	name, _, _, err := shared.Manager()
	must(t, err)
	pods, err := shared.pods(within(t))
	must(t, err)
	for _, p := range pods {
		if p.Name == name && len(p.Status.ContainerStatuses) == 1 {
			count = p.Status.ContainerStatuses[0].RestartCount
		}
	}
	return count
}
