// Command cmd prints each behaviour of docs/behaviours.md with its tests, for
// the repository in the working directory. It exits with 1 when a behaviour has
// neither a test nor a mark, or a test names one that is not listed.
package main

import (
	"fmt"
	"os"

	"github.com/quorate/quorate/internal/checklist"
)

func main() {
	faults, err := checklist.Run(os.Stdout, os.DirFS("."), "docs/behaviours.md")
	if err != nil {
		fmt.Fprintln(os.Stderr, "checklist:", err)
		os.Exit(1)
	}
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, f)
	}
	if len(faults) > 0 {
		fmt.Fprintf(os.Stderr, "checklist: faults found: %d\n", len(faults))
		os.Exit(1)
	}
}
