package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/quorate/quorate/cel"
)

// live binds what a case says of the live world. A name that the case leaves out
// does not exist: null, or an empty list.
func (b *bench) live(c *Case, r *cel.Request) (map[string]any, error) {
	reads := b.readsOf(r.Resource)
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(c.Live)) {
		if _, ok := reads[name]; !ok {
			problems = append(problems, c.source.errorf(c.source.at("live", name),
				"live.%s: no rule of %s reads that", name, r.Resource))
		}
	}
	targets, _ := b.engine.LiveReads(r) // what cannot be named ends its rule in an error
	live := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(reads)) {
		value, err := b.liveValue(c, name, reads[name], targets[name].Name)
		live[name] = value
		problems = append(problems, err)
	}
	return live, errors.Join(problems...)
}

// readsOf lists the live reads of all rules of a resource; a name means the same
// in each.
func (b *bench) readsOf(resource string) map[string]cel.LiveRead {
	reads := map[string]cel.LiveRead{}
	for _, rule := range b.folder.Catalogue.Rules {
		if rule.Resource == resource {
			maps.Copy(reads, rule.Live)
		}
	}
	return reads
}

func (b *bench) liveValue(c *Case, name string, read cel.LiveRead, objectName string) (any, error) {
	k, err := b.folder.kind(read.Resource)
	if err != nil {
		return nil, fmt.Errorf("live.%s: %w", name, err)
	}
	if read.Name == "" {
		return b.liveList(c, k, name)
	}
	object, ok := c.Live[name].(map[string]any)
	if c.Live[name] != nil && !ok {
		return nil, c.source.errorf(c.source.at("live", name), "live.%s: want an object", name)
	}
	if object == nil {
		return nil, nil
	}
	object = k.complete(object, liveName(objectName, 0), c.Raw)
	return object, errors.Join(k.liveFaults(c, object, "live", name)...)
}

func (b *bench) liveList(c *Case, k *kind, name string) (any, error) {
	items, ok := c.Live[name].([]any)
	if c.Live[name] != nil && !ok {
		return nil, c.source.errorf(c.source.at("live", name), "live.%s: want a list", name)
	}
	list := make([]any, 0, len(items))
	var problems []error
	for i, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			problems = append(problems, c.source.errorf(c.source.at("live", name, fmt.Sprint(i)), "live.%s[%d]: want an object", name, i))
			continue
		}
		object = k.complete(object, liveName("", i), c.Raw)
		list = append(list, object)
		problems = append(problems, k.liveFaults(c, object, "live", name, fmt.Sprint(i))...)
	}
	return list, errors.Join(problems...)
}

func (k *kind) liveFaults(c *Case, object map[string]any, at ...string) []error {
	var problems []error
	for _, f := range k.check(object, c.Raw) {
		problems = append(problems, c.source.errorf(c.source.at(append(slices.Clone(at), f.path...)...), "%s: %s", joined(at), f.problem))
	}
	return problems
}
