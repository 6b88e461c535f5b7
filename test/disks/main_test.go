// Package disks has the verdicts of guard/rejoin over disks that real etcd servers
// wrote, of each supported minor: no bucket and no log is made by hand here. What
// was damaged, was damaged afterwards.
package disks

import (
	"os"
	"testing"

	"github.com/quorate/quorate/guard/rejoin/tombstone"
)

// readerVariable makes the test binary the process that reads bolt files.
const readerVariable = "QUORATE_TEST_READER"

func TestMain(m *testing.M) {
	if os.Getenv(readerVariable) != "" {
		os.Exit(tombstone.Serve(os.Stdin, os.Stdout))
	}
	if err := os.Setenv(readerVariable, "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
