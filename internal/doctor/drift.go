package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

var ruleID = regexp.MustCompile(`\(([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\)$`)

// ruleName is the ID at a message's end; a rule without one is called by its text.
func ruleName(message, expression string) string {
	if m := ruleID.FindStringSubmatch(strings.TrimSpace(message)); m != nil {
		return m[1]
	}
	return strings.Join(strings.Fields(expression), " ")
}

// drift is how two sets of named things differ.
type drift struct {
	missing, foreign []string
	// changed names the parts that differ, by name.
	changed map[string][]string
}

// compare finds the differences between what this version wants and what lives.
func compare[T any](want, live map[string]T) drift {
	d := drift{changed: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		other, ok := live[name]
		if !ok {
			d.missing = append(d.missing, name)
			continue
		}
		if parts := partsThatDiffer(want[name], other); len(parts) > 0 {
			d.changed[name] = parts
		}
	}
	for _, name := range slices.Sorted(maps.Keys(live)) {
		if _, ok := want[name]; !ok {
			d.foreign = append(d.foreign, name)
		}
	}
	return d
}

// partsThatDiffer names the JSON fields that differ.
func partsThatDiffer(a, b any) []string {
	left, right := fields(a), fields(b)
	var parts []string
	for name := range union(left, right) {
		if !reflect.DeepEqual(left[name], right[name]) {
			parts = append(parts, name)
		}
	}
	slices.Sort(parts)
	return parts
}

func union(a, b map[string]any) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// fields gives a value's JSON fields; a value that is no object is one field.
func fields(v any) map[string]any {
	data, err := json.Marshal(v)
	if err != nil {
		return map[string]any{"value": fmt.Sprintf("%v", v)}
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		return map[string]any{"value": string(data)}
	}
	return out
}

// shownAtMost bounds what is listed of a long list.
const shownAtMost = 10

func list(names []string) string {
	if len(names) <= shownAtMost {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shownAtMost], ", "), len(names)-shownAtMost)
}
