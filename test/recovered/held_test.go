package recovered

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// heldIn are the objects that quorate operation list -o json calls held, by kind and name.
func heldIn(t *testing.T, answer string) []string {
	t.Helper()
	var found struct {
		Held []struct{ Kind, Name string } `json:"held"`
	}
	must(t, json.Unmarshal([]byte(answer), &found))
	out := []string{}
	for _, h := range found.Held {
		out = append(out, strings.ToLower(h.Kind)+"/"+h.Name)
	}
	slices.Sort(out)
	return out
}

func containsAll(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
}
