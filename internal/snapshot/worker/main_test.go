package worker

import (
	"fmt"
	"os"
	"testing"

	"github.com/quorate/quorate/internal/snapshot"
)

// makeBig is the role that makes the large snapshot of TestMemory: what that takes is no
// memory of the process that is measured.
const makeBig = "make-big"

// TestMain is the child's role, as this program is what a Worker starts.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == snapshot.Role:
		os.Exit(Serve(os.Stdin, os.Stdout))
	case len(os.Args) > 2 && os.Args[1] == makeBig:
		if err := big(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}
