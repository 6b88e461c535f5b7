package recovered

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/quorate/quorate/test/s3"
)

// typed is a command that a person has typed: the real program, in the person's folder.
type typed struct {
	t    *testing.T
	cmd  *exec.Cmd
	said output
	done chan struct{}
	err  error
}

// output is what a program has said so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// types starts quorate with these words. answers are typed when it asks.
func (s *stage) types(t *testing.T, answers string, words ...string) *typed {
	t.Helper()
	c := &typed{t: t, cmd: exec.CommandContext(within(t), s.Binary(), words...), done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = s.dir, strings.NewReader(answers), &c.said, &c.said
	c.cmd.Env = []string{
		"KUBECONFIG=" + s.kubeconfig, "HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(),
		"AWS_ACCESS_KEY_ID=" + s3.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + s3.SecretAccessKey,
	}
	must(t, c.cmd.Start())
	go func() {
		defer close(c.done)
		c.err = c.cmd.Wait()
	}()
	return c
}

// ends waits for the end, and wants this exit code and these parts in what was said.
func (c *typed) ends(code int, says ...string) string {
	c.t.Helper()
	<-c.done
	var exit *exec.ExitError
	if c.err != nil && !errors.As(c.err, &exit) {
		c.t.Fatal(c.err)
	}
	text := c.said.String()
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("quorate %s: the exit code is %d, want %d:\n%s", strings.Join(c.cmd.Args[1:], " "), got, code, text)
	}
	for _, want := range says {
		if !strings.Contains(text, want) {
			c.t.Errorf("quorate %s does not say %q:\n%s", strings.Join(c.cmd.Args[1:], " "), want, text)
		}
	}
	return text
}

// yes agrees to go on, and confirms by the cluster's name.
const yes = "yes\nfactory\n"

// theCommand begins the command that does without Kubernetes.
const theCommand = "quorate restore --recover-cluster "

// commandAtTheEnd is the command that a message ends with, as a person copies it: without
// the program's name.
func commandAtTheEnd(t *testing.T, message string) []string {
	t.Helper()
	i := strings.LastIndex(message, theCommand)
	if i < 0 {
		t.Fatalf("no command is named: %s", message)
	}
	return strings.Fields(message[i:])[1:]
}

// commandInALine is the command that has a line of its own.
func commandInALine(t *testing.T, text string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, theCommand) {
			return strings.Fields(line)[1:]
		}
	}
	t.Fatalf("no command is named:\n%s", text)
	return nil
}
