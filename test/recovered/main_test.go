package recovered

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/test/cluster"
)

// managerVariable names a manager's program that is built already.
const managerVariable = "QUORATE_TEST_MANAGER"

// limit bounds a start, and what a test waits for at once, on a machine that is busy.
const limit = 10 * time.Minute

func TestMain(m *testing.M) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	code := m.Run()
	if err := leave(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
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

// errNotYet says that something will be so.
var errNotYet = errors.New("not yet")

func until(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	must(t, cluster.Until(within(t), what, check))
}
