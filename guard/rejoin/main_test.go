package rejoin

import (
	"io"
	"os"
	"testing"

	"github.com/quorate/quorate/guard/rejoin/tombstone"
)

// child, as the first argument, makes the test binary a child, or one of its faults.
const child = "rejoin-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == child {
		os.Exit(beChild(os.Args[2]))
	}
	os.Exit(m.Run())
}

func beChild(mode string) int {
	switch mode {
	case "serve":
		return tombstone.Serve(os.Stdin, os.Stdout)
	case "hang":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "garbage":
		_, _ = os.Stdout.WriteString("no JSON\n")
	case "maybe":
		_, _ = os.Stdout.WriteString(`{"Answer":"maybe"}` + "\n")
	case "endless":
		for {
			_, _ = os.Stdout.WriteString("xxxxxxxxxxxxxxxx")
		}
	}
	return 3
}

func reader() Child { return childThat("serve") }

func childThat(mode string) Child { return Child{Program: os.Args[0], Args: []string{child, mode}} }
