package script

import (
	"errors"
	"fmt"
	"strings"
)

// errQuote says that a command cannot be split.
var errQuote = errors.New("a single quote is not closed")

// words splits a command at its spaces, except between single quotes: all of a
// shell's language that the script needs.
func words(command string) ([]string, error) {
	parts := strings.Split(command, "'")
	if len(parts)%2 == 0 {
		return nil, fmt.Errorf("split %s: %w", command, errQuote)
	}
	var found []string
	for i, part := range parts {
		if i%2 == 1 {
			found = append(found, part)
		} else {
			found = append(found, strings.Fields(part)...)
		}
	}
	return found, nil
}
