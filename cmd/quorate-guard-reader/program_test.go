package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needed are the only modules that the reader is made of: what else it had would
// cost time at each start.
var needed = []string{"github.com/quorate/quorate/cmd/quorate-guard-reader", "github.com/quorate/quorate/guard/rejoin/tombstone", "github.com/quorate/quorate/guard/rejoin/witness", "go.etcd.io/bbolt", "golang.org/x/sys"}

func TestImports(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		if !isNeeded(pkg) {
			t.Errorf("it has %s", pkg)
		}
	}
	for _, heavy := range []string{"google.golang.org/grpc", "github.com/spf13/cobra", "go.uber.org/zap", "github.com/quorate/quorate/guard/rejoin"} {
		if isNeeded(heavy) {
			t.Errorf("%s would pass", heavy)
		}
	}
}

func isNeeded(pkg string) bool {
	for _, path := range needed {
		if pkg == path || strings.HasPrefix(pkg, path+"/") {
			return true
		}
	}
	return false
}

// maxSize is in bytes.
const maxSize = 4 << 20

func TestProgram(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "quorate-guard-reader")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil || info.Size() >= maxSize {
		t.Errorf("%v, %d bytes, and it should be below %d", err, info.Size(), maxSize)
	}
	for _, c := range []struct {
		name, in, out, says string
		args                []string
		code                int
	}{
		{name: "a request", in: `{"ask":"tombstone","dataDir":"/gone","id":"a","timeout":1000000000}` + "\n", out: `{"Answer":"no","Why":"no bolt file"}` + "\n"},
		{name: "nothing asked"},
		{name: "no request", in: "tombstone\n", says: "read the request: invalid character 'o' in literal true (expecting 'r')\n", code: 1},
		{name: "arguments", args: []string{"--help"}, says: "quorate-guard-reader takes no arguments: quorate-guard starts it, for people there is quorate-guard check\n", code: exitUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, says bytes.Buffer
			cmd := exec.CommandContext(t.Context(), binary, c.args...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.in), &out, &says
			_ = cmd.Run() // the code says it
			if code := cmd.ProcessState.ExitCode(); code != c.code || out.String() != c.out || says.String() != c.says {
				t.Errorf("exit code %d, %q on stdout, %q on stderr", code, &out, &says)
			}
		})
	}
}
