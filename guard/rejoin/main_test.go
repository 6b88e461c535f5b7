package rejoin

import (
	"io"
	"os"
	"testing"
)

// child, set in the environment, makes the test binary a child or one of its faults.
const child = "REJOIN_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(child) {
	case "serve":
		os.Exit(ServeChild(os.Stdin, os.Stdout))
	case "hang":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "garbage":
		_, _ = os.Stdout.WriteString("no JSON\n")
		os.Exit(0)
	case "silent":
		os.Exit(3)
	case "maybe":
		_, _ = os.Stdout.WriteString(`{"Answer":"maybe"}` + "\n")
		os.Exit(0)
	case "endless":
		for {
			_, _ = os.Stdout.WriteString("xxxxxxxxxxxxxxxx")
		}
	}
	if err := os.Setenv(child, "serve"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func reader() Child { return Child{Program: os.Args[0]} }
