package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// playing is a Worker whose child plays a role.
func playing(t testing.TB, role string) *Worker {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	if roles[role] == nil {
		t.Fatalf("there is no role %s", role)
	}
	return &Worker{Command: []string{self, role}}
}

// A child may die in any way; the caller is told of which, and by what words.
//
// covers: C-9
func TestDeathOfAChild(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word ", maxWords/5))
	for _, tt := range []struct {
		role string
		kind error
		want string
	}{
		{"dies-first", ErrWorker, "the snapshot could not be looked at: the child ended before it began: exit status 1: no room"},
		{"panics", ErrDamaged, "the snapshot is damaged: the child that opened it died: exit status 2: panic: page 7 is of no kind"},
		{"panics-behind", ErrDamaged, "the snapshot is damaged: the child that opened it died: exit status 2: panic: page 7 is of no kind"},
		{"exits", ErrDamaged, "the snapshot is damaged: the child that opened it died: exit status 1: failed to commit"},
		{"exits-well", ErrDamaged, "the snapshot is damaged: the child that opened it died: exit status 0: it said nothing"},
		{"is-killed", ErrWorker, "the snapshot could not be looked at: the child was stopped from outside: signal: killed; see whether it had too little memory"},
		{"garbles", ErrWorker, "the snapshot could not be looked at: the child wrote what is no answer"},
		{"promises-much", ErrWorker, "the snapshot could not be looked at: the child wrote what is no answer"},
		{"answers-otherwise", ErrWorker, "the snapshot could not be looked at: read the child's answer: invalid character 'o' in literal null (expecting 'u')"},
		{"fails-otherwise", ErrWorker, "the snapshot could not be looked at: the child wrote what is no answer"},
		{"fails-unknown", ErrWorker, "the snapshot could not be looked at: the child failed in a way that is not known here"},
		{"fails", ErrChecksum, "the sum is another"},
		{"talks", ErrDamaged, "the snapshot is damaged: the child that opened it died: exit status 1: " + words + "  …"},
	} {
		t.Run(tt.role, func(t *testing.T) {
			_, err := playing(t, tt.role).Inspect(t.Context(), "x")
			if want := "inspect the snapshot: " + tt.want; !errors.Is(err, tt.kind) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if errors.Is(err, ErrDamaged) && errors.Is(err, ErrWorker) {
				t.Error("it is of both kinds")
			}
		})
	}
	none(t)
}

func TestAChildThatDoesNotStart(t *testing.T) {
	w := &Worker{Command: []string{filepath.Join(t.TempDir(), "none")}}
	if _, err := w.Inspect(t.Context(), "x"); !errors.Is(err, ErrWorker) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, ErrWorker)
	}
	none(t)
}

func TestAChildThatHangs(t *testing.T) {
	for _, role := range []string{"hangs", "hangs-without-a-way"} {
		w := playing(t, role)
		w.Limits.Time = 300 * time.Millisecond
		want := "inspect the snapshot: the snapshot could not be looked at: the child was not done within 300ms"
		if _, err := w.Inspect(t.Context(), "x"); !errors.Is(err, ErrWorker) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", role, err, want)
		}
		none(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("no more of it")) })
		w.Limits.Time = 0
		want = "inspect the snapshot: context canceled"
		if _, err := w.Inspect(ctx, "x"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDamaged) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", role, err, want)
		}
		none(t)
	}
}

// A child sees nothing of what this process was started with: there may be credentials.
func TestSurroundingsOfAChild(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	_, err := playing(t, "shows-surroundings").Inspect(t.Context(), "x")
	if want := "inspect the snapshot: GOTRACEBACK=single"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestKeysAreStreamed(t *testing.T) {
	n := 0
	for key, err := range playing(t, "lists").Keys(t.Context(), "x", "") {
		must(t, err)
		if n++; n == 10 {
			if key != "key-0000009" {
				t.Errorf("got %s", key)
			}
			break
		}
	}
	none(t)
	var keys []string
	var last error
	for key, err := range playing(t, "lists-and-fails").Keys(t.Context(), "x", "") {
		if last = err; err == nil {
			keys = append(keys, key)
		}
	}
	want := "list the keys of the snapshot: revision 7 is damaged"
	if len(keys) != 1 || !errors.Is(last, ErrDamaged) || last.Error() != want {
		t.Errorf("got %q and %v, want one and %s", keys, last, want)
	}
	none(t)
}

// What a child was at work in is erased, also after one that died and one that was lost
// together with its parent.
func TestTheScratchIsErased(t *testing.T) {
	for _, role := range []string{"panics", "answers"} {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		must(t, os.MkdirAll(filepath.Join(out+".scratch", "of an earlier one"), 0o700))
		_, err := playing(t, role).Reseal(t.Context(), "x", out, 1)
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("%s (%v): there is %q", role, err, left)
		}
	}
}

func TestAnswer(t *testing.T) {
	got, err := playing(t, "answers").Inspect(t.Context(), "of this path")
	must(t, err)
	if got.Revision != 7 || got.Sum != "of this path" {
		t.Errorf("got %+v", got)
	}
}
