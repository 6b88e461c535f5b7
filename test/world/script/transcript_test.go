package script

import (
	"strings"
	"testing"
)

// TestFound: what was looked up elsewhere reads like kubectl's answers do, and in
// colours only where they are wanted.
func TestFound(t *testing.T) {
	for name, c := range map[string]struct {
		colours  bool
		problems []string
		want     string
	}{
		"as expected": {false, nil, "\n# the list, by cp-1\n  cp-1  voter\n✓ before: one voter\n"},
		"otherwise":   {false, []string{"there are two"}, "\n# the list, by cp-1\n  cp-1  voter\n✗ before: expected: one voter\n  there are two\n"},
		"in colours":  {true, nil, "\n\x1b[2m# the list, by cp-1\x1b[0m\n  cp-1  voter\n\x1b[32m✓ before: one voter\x1b[0m\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			(&Transcript{To: &out, Colours: c.colours}).Found("the list, by cp-1", "  cp-1  voter\n", "before", "one voter", c.problems)
			if out.String() != c.want {
				t.Errorf("the transcript is %q, want %q", out.String(), c.want)
			}
		})
	}
}

func TestMeanwhile(t *testing.T) {
	var out strings.Builder
	(&Transcript{To: &out}).Meanwhile("1.0 s  cp-1 is gone")
	if want := "  1.0 s  cp-1 is gone\n"; out.String() != want {
		t.Errorf("the transcript is %q, want %q", out.String(), want)
	}
}
