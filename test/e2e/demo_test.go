package e2e

import (
	"strings"
	"testing"

	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

// TestDemo plays the demonstration.
//
// covers, B-1, B-17, C-1, C-2, C-6
func TestDemo(t *testing.T) {
	for _, section := range script.All() {
		t.Run(section.Title, func(t *testing.T) {
			for _, step := range section.Steps {
				t.Run(step.Name, func(t *testing.T) { play(t, step) })
			}
		})
	}
}

// TestTries plays what `make up` offers to try.
func TestTries(t *testing.T) {
	for _, step := range script.Tries() {
		t.Run(strings.TrimPrefix(step.Name, "try: "), func(t *testing.T) { play(t, step) })
	}
}

func play(t *testing.T, step script.Step) {
	t.Helper()
	var told strings.Builder
	player := &script.Player{Stage: shared, Tellers: []script.Teller{&script.Transcript{To: &told}}}
	problems, err := player.Step(t.Context(), step)
	must(t, err)
	if len(problems) > 0 {
		t.Error(told.String())
	}
}

// The world is a stage.
var _ script.Stage = (*world.World)(nil)
