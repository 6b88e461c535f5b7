// Command quorate-guard-reader reads the database of an etcd member for
// quorate-guard, which starts it from its own folder and asks on its standard
// input. A damaged database may kill it; that is what it is for. It is a program of
// its own since one that can also talk to etcd takes many times as long to start.
package main

import (
	"fmt"
	"os"

	"github.com/quorate/quorate/guard/rejoin/tombstone"
)

// exitUsage is that of quorate-guard.
const exitUsage = 2

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "quorate-guard-reader takes no arguments: quorate-guard starts it, for people there is quorate-guard check")
		os.Exit(exitUsage)
	}
	os.Exit(tombstone.Serve(os.Stdin, os.Stdout))
}
