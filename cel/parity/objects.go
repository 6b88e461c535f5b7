package parity

import (
	"maps"
	"slices"

	"github.com/quorate/quorate/cel"
)

// new makes an object as a user could send it.
func (k *kind) new(m maker) map[string]any {
	object := m.object(k.root)
	object["apiVersion"], object["kind"], object["metadata"] = k.apiVersion, k.name, m.newMeta()
	return object
}

func (k *kind) decoded(object map[string]any) map[string]any { return decoded(k.schema, object) }

// finalizers are those that rules hold, and another.
var finalizers = []any{"quorate.dev/etcd", "quorate.dev/machine", "quorate.dev/etcd-restore", "example.com/other"}

// requesters are a user that requests come from, and another.
var requesters = []any{"alice", "somebody else"}

func (m maker) newMeta() map[string]any {
	meta := map[string]any{
		"name": "it", "namespace": "ns", "uid": "0c9f1f7e-7b53-4a3c-9d36-6f3f0f6c1a11",
		"resourceVersion": "7", "generation": int64(1), "creationTimestamp": "2030-01-02T15:04:05Z",
	}
	if m.chance(0.8) {
		meta["finalizers"] = slices.Clone(finalizers[:1+m.IntN(len(finalizers))])
	}
	if m.chance(0.3) {
		meta["labels"] = map[string]any{"team": pick(m, []any{"storage", "platform"})}
	}
	if m.chance(0.2) {
		meta["annotations"] = map[string]any{"quorate.dev/allow-delete": "true", "note": "ünï", "quorate.dev/requested-by": pick(m, requesters)}
	}
	if m.chance(0.1) {
		meta["deletionTimestamp"] = "2031-12-31T23:59:59Z"
	}
	return meta
}

// changed makes of an object what a user could ask for instead of it.
func (k *kind) changed(m maker, old map[string]any, subresource string) map[string]any {
	switch f := m.Float64(); {
	case f < 0.03:
		return old
	case f < 0.1:
		return k.replaced(m, old)
	}
	out := old
	focus := k.spec
	if subresource == cel.Status {
		focus = k.status
	}
	for range 1 + m.IntN(3) {
		if m.chance(0.7) && len(focus) > 0 {
			out = m.changeAt(k.root, out, pick(m, focus))
		} else {
			out = m.changeObject(k.root, out)
		}
	}
	if m.chance(0.2) {
		out = m.changeMeta(out)
	}
	return out
}

// replaced is another object under the same identity.
func (k *kind) replaced(m maker, old map[string]any) map[string]any {
	out := k.new(m)
	out["metadata"] = old["metadata"]
	return out
}

func (m maker) changeMeta(object map[string]any) map[string]any {
	out := maps.Clone(object)
	meta := maps.Clone(object["metadata"].(map[string]any))
	for _, name := range []string{"finalizers", "labels", "annotations"} {
		if other, ok := m.newMeta()[name]; ok && m.chance(0.5) {
			meta[name] = other
		} else {
			delete(meta, name)
		}
	}
	out["metadata"] = meta
	return out
}
