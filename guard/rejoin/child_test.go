package rejoin

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/quorate/quorate/guard/rejoin/internal/disktest"
	"github.com/quorate/quorate/guard/rejoin/tombstone"
)

func TestChild(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   string
		make   func(t *testing.T, dir string)
		answer Answer
		why    string
	}{
		{"removed", "serve", func(t *testing.T, dir string) { newBolt(t, dir, me) }, Yes, "among 1 in members_removed"},
		{"not removed", "serve", func(t *testing.T, dir string) { newBolt(t, dir, other) }, No, "not among 1 in members_removed"},
		{"killed by the file", "serve", func(t *testing.T, dir string) { disktest.LoopBolt(t, newBolt(t, dir, me)) }, Unreadable, "the reader crashed: runtime: goroutine stack exceeds 16777216-byte limit"},
		{"nonsense", "garbage", nil, Unreadable, "the reader talks nonsense: invalid character 'o' in literal null (expecting 'u')"},
		{"an answer that is none", "maybe", nil, Unreadable, `the reader talks nonsense: it answers "maybe"`},
		{"an exit", "silent", nil, Unreadable, "the reader crashed: exit status 3"},
		{"an endless line", "endless", nil, Unreadable, "the reader talks nonsense: bufio: buffer full"},
		{"a hang", "hang", nil, Unreadable, "the reader did not answer in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.make != nil {
				c.make(t, dir)
			}
			r := childThat(c.mode)
			if c.mode == "hang" {
				r.Timeout = 100 * time.Millisecond
			}
			if got := r.once(t.Context(), tombstone.Request{Ask: tombstone.AskTombstone, DataDir: dir, ID: me, Timeout: r.timeout()}); got != (Witness{Answer: c.answer, Why: c.why}) {
				t.Errorf("got  %q\nwant %q", got, Witness{Answer: c.answer, Why: c.why})
			}
		})
	}
}

func TestChildThatIsNotThere(t *testing.T) {
	r := Child{Program: filepath.Join(t.TempDir(), "reader")}
	want := Witness{Answer: Unreadable, Why: "the reader " + r.Program + " is missing: install it"}
	began := time.Now()
	if got := r.Tombstone(t.Context(), t.TempDir(), me); got != want {
		t.Errorf("got %q", got)
	}
	if took := time.Since(began); took < firstBackoff*3 {
		t.Errorf("three attempts took %s", took)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	began = time.Now()
	if got := r.Tombstone(ctx, t.TempDir(), me); got.Answer != Unreadable {
		t.Errorf("got %q", got)
	}
	if took := time.Since(began); took >= firstBackoff {
		t.Errorf("without time it took %s", took)
	}
}

//
func TestChildOfALockedFile(t *testing.T) {
	dir := t.TempDir()
	db, err := bbolt.Open(newBolt(t, dir, me), 0o600, nil)
	must(t, err)
	time.AfterFunc(700*time.Millisecond, func() { _ = db.Close() })
	if got := reader().Tombstone(t.Context(), dir, me); got.Answer != Yes {
		t.Errorf("unlocked while it was asked again: got %q", got)
	}
}
