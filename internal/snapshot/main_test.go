package snapshot

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain plays the child, well and badly: the roles are what a Worker may start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role, known := roles[os.Args[1]]; known {
			line, err := bufio.NewReader(os.Stdin).ReadString('\n')
			if err != nil {
				os.Exit(3)
			}
			var job Job
			if err := json.Unmarshal([]byte(line), &job); err != nil {
				os.Exit(4)
			}
			role(job)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// say writes a frame, whatever comes of it.
func say(kind FrameKind, data string) { _ = WriteFrame(os.Stdout, kind, []byte(data)) }

func die(s syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), s)
	select {} // it is dead soon
}

// forever neither ends nor uses the processor.
func forever() { <-time.After(time.Hour) }

// roles are by the argument that starts them.
var roles = map[string]func(Job){
	"answers":             func(j Job) { say(FrameOpened, ""); say(FrameDone, `{"revision": 7, "sum": "`+j.Path+`"}`) },
	"dies-first":          func(Job) { fmt.Fprintln(os.Stderr, "no room"); os.Exit(1) },
	"panics":              func(Job) { say(FrameOpened, ""); panic("page 7 is of no kind") },
	"panics-behind":       func(Job) { say(FrameOpened, ""); go func() { panic("page 7 is of no kind") }(); forever() },
	"exits":               func(Job) { say(FrameOpened, ""); fmt.Fprintln(os.Stderr, "failed to commit"); os.Exit(1) },
	"exits-well":          func(Job) { say(FrameOpened, "") },
	"is-killed":           func(Job) { say(FrameOpened, ""); die(syscall.SIGKILL) },
	"garbles":             func(Job) { say('?', ""); forever() },
	"promises-much":       func(Job) { _, _ = os.Stdout.Write([]byte{'k', 255, 255, 255, 255}); forever() },
	"answers-otherwise":   func(Job) { say(FrameDone, "no JSON") },
	"fails-otherwise":     func(Job) { say(FrameFailed, "no JSON"); forever() },
	"fails-unknown":       func(Job) { say(FrameFailed, `{"kind": "later", "text": "x"}`) },
	"fails":               func(Job) { say(FrameFailed, `{"kind": "checksum", "text": "the sum is another"}`) },
	"hangs":               func(Job) { say(FrameOpened, ""); forever() },
	"hangs-without-a-way": func(Job) { _ = os.Stdout.Close(); forever() },
	"talks": func(Job) {
		say(FrameOpened, "")
		for range 1000 {
			_, _ = io.WriteString(os.Stderr, strings.Repeat("word ", 10_000))
		}
		os.Exit(1)
	},
	"shows-surroundings": func(Job) { say(FrameFailed, `{"kind": "worker", "text": "`+strings.Join(os.Environ(), " ")+`"}`) },
	"lists": func(Job) {
		for i := range 1_000_000 {
			say(FrameKey, fmt.Sprintf("key-%07d", i))
		}
		say(FrameDone, "null")
	},
	"lists-and-fails": func(Job) {
		say(FrameKey, "a")
		say(FrameFailed, `{"kind": "damaged", "text": "revision 7 is damaged"}`)
	},
}
