package etcd

import (
	"regexp"
	"strings"

	"github.com/quorate/quorate/api/v1alpha1"
)

// memberID is a member's ID as agents print it, with the word before it.
var memberID = regexp.MustCompile(`\b(member )?[0-9a-f]{12,16}\b`)

// withoutIDs is a text for people: they know members by their names, and IDs are for
// logs.
func withoutIDs(text string) string {
	return memberID.ReplaceAllStringFunc(text, func(found string) string {
		if len(found) > len("member ") && found[:len("member ")] == "member " {
			return "a member"
		}
		return "(an ID)"
	})
}

// namedMembers are the IDs of the members that an agent speaks of.
func namedMembers(text string) []v1alpha1.HexID {
	var ids []v1alpha1.HexID
	for _, found := range memberID.FindAllString(text, -1) {
		if id, ok := strings.CutPrefix(found, "member "); ok {
			ids = append(ids, v1alpha1.HexID(id))
		}
	}
	return ids
}
