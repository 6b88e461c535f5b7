package node

import (
	"cmp"
	"slices"
	"strings"
)

// path is one inside a container, and what it is on this machine.
type path struct{ inside, outside string }

// paths replace what pods call their files, longest first.
type paths []path

func (p paths) sorted() paths {
	out := slices.Clone(p)
	slices.SortStableFunc(out, func(a, b path) int { return cmp.Compare(len(b.inside), len(a.inside)) })
	return out
}

// replace puts the machine's paths into a text. A path is replaced where it stands as
// a whole or begins a longer one: /run/etcd stays as it is inside /run/etcd-old and
// inside /var/run/etcd. What was put in is not looked at again.
func (p paths) replace(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		found := p.at(text, i)
		if found == nil {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(found.outside)
		i += len(found.inside)
	}
	return out.String()
}

func (p paths) at(text string, i int) *path {
	if i > 0 && inName(text[i-1]) {
		return nil
	}
	for n := range p {
		rest, ok := strings.CutPrefix(text[i:], p[n].inside)
		if ok && (rest == "" || !inName(rest[0])) {
			return &p[n]
		}
	}
	return nil
}

// inName tells whether a byte can be part of a file's name.
func inName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("._-", b) >= 0
}

func (p paths) replaceAll(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		out = append(out, p.replace(text))
	}
	return out
}
