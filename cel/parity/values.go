package parity

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// maker makes and changes values at random; the same source gives the same ones.
type maker struct{ *rand.Rand }

// chance is true in a share of cases.
func (m maker) chance(share float64) bool { return m.Float64() < share }

func pick[T any](m maker, values []T) T { return values[m.IntN(len(values))] }

// value makes a valid value, with nulls and unknown fields that the API server
// prunes.
func (m maker) value(n *node) any {
	switch n.kind {
	case "object":
		return m.object(n)
	case "array":
		var list []any
		for range n.minItems + m.IntN(n.maxItems-n.minItems+1) {
			list = append(list, m.value(n.items))
		}
		return m.unique(n, list)
	}
	if len(n.hints) > 0 && m.chance(0.9) {
		return pick(m, n.hints)
	}
	return pick(m, n.leaves)
}

func (m maker) object(n *node) map[string]any {
	out := map[string]any{}
	if n.values != nil {
		for range m.IntN(3) {
			out[pick(m, []string{"app", "team", "example.com/zone"})] = m.value(n.values)
		}
		return out
	}
	for _, p := range n.properties {
		switch {
		case p.required || m.chance(p.presence):
			out[p.name] = m.value(p.node)
		case m.chance(0.1):
			out[p.name] = nil
		}
	}
	if m.chance(0.05) {
		out["unknown"] = "field"
	}
	return out
}

// change gives another valid value; the old one is not touched.
func (m maker) change(n *node, old any) any {
	switch old := old.(type) {
	case map[string]any:
		if n.values != nil || m.chance(0.1) {
			return m.value(n)
		}
		return m.changeObject(n, old)
	case []any:
		return m.unique(n, m.changeList(n, old))
	}
	return m.value(n)
}

// changeObject changes one property: unset, null, set, or changed itself.
func (m maker) changeObject(n *node, old map[string]any) map[string]any {
	out := maps.Clone(old)
	if len(n.properties) == 0 {
		return out
	}
	p := pick(m, n.properties)
	value, there := out[p.name]
	switch {
	case there && !p.required && m.chance(0.3):
		delete(out, p.name)
	case there && !p.required && m.chance(0.1):
		out[p.name] = nil
	case there && value != nil:
		out[p.name] = m.change(p.node, value)
	default:
		out[p.name] = m.value(p.node)
	}
	if m.chance(0.05) {
		out["unknown"] = int64(1)
	}
	return out
}

// changeList reorders, drops, adds or changes items.
func (m maker) changeList(n *node, old []any) []any {
	out := slices.Clone(old)
	switch i := m.IntN(5); {
	case i == 0:
		m.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	case i <= 2 && len(out) > n.minItems:
		drop := m.IntN(len(out))
		out = slices.Delete(out, drop, drop+1)
	case i == 3 && len(out) < n.maxItems:
		out = slices.Insert(out, m.IntN(len(out)+1), m.value(n.items))
	case len(out) > 0:
		at := m.IntN(len(out))
		out[at] = m.change(n.items, out[at])
	}
	return out
}

// unique drops later items with the same keys from a list that is a map.
func (m maker) unique(n *node, list []any) []any {
	if n.named && m.chance(0.1) {
		return list
	}
	seen := map[string]bool{}
	out := []any{}
	for _, item := range list {
		key := ""
		for _, name := range n.mapKeys {
			value, _ := item.(map[string]any)[name].(string)
			key += value + "\x00"
		}
		if len(n.mapKeys) == 0 || !seen[key] {
			out = append(out, item)
		}
		seen[key] = true
	}
	return out
}

// changeAt changes what is at a path of properties, setting what is missing on
// the way.
func (m maker) changeAt(n *node, old map[string]any, path []string) map[string]any {
	p, ok := n.property(path[0])
	if !ok {
		return old
	}
	out := maps.Clone(old)
	value, there := out[p.name]
	switch nested, isObject := value.(map[string]any); {
	case len(path) > 1 && isObject:
		out[p.name] = m.changeAt(p.node, nested, path[1:])
	case there && !p.required && m.chance(0.2):
		delete(out, p.name)
	case there && value != nil:
		out[p.name] = m.change(p.node, value)
	default:
		out[p.name] = m.value(p.node)
	}
	return out
}
