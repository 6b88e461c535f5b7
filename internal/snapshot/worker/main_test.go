package worker

import (
	"os"
	"testing"

	"github.com/quorate/quorate/internal/snapshot"
)

// TestMain is the child's role, as this program is what a Worker starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == snapshot.Role {
		os.Exit(Serve(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
