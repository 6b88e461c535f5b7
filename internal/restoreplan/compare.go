package restoreplan

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// How much of a difference is kept, whatever its size.
const (
	maxGroups = 200
	maxNames  = 5
)

// errUnsorted: keys did not come in order, and a comparison would be wrong.
var errUnsorted = errors.New("the keys are not in order")

// Differences are the objects of which only one side has any.
type Differences struct {
	// Vanish exist now and not in the snapshot, Return the reverse.
	Vanish Tally `json:"vanish"`
	Return Tally `json:"return"`
}

// Tally counts objects by kind and namespace.
type Tally struct {
	Objects int     `json:"objects"`
	Groups  []Group `json:"groups,omitempty"`
	// MoreObjects are in MoreGroups groups that are not listed.
	MoreGroups  int `json:"more_groups,omitempty"`
	MoreObjects int `json:"more_objects,omitempty"`

	last object
}

// Group is a kind's objects in a namespace.
type Group struct {
	// Kind is the resource with its group, such as talosmachines.quorate.dev.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Objects   int    `json:"objects"`
	// Names are the first ones'.
	Names []string `json:"names"`
}

// add counts one more. A sorted list has each group in one piece, so that one that was
// cut off can be told from a new one by the last object alone.
func (t *Tally) add(o object) {
	t.Objects++
	same := t.last.kind == o.kind && t.last.namespace == o.namespace && t.Objects > 1
	t.last = o
	switch {
	case t.MoreGroups > 0 || !same && len(t.Groups) == maxGroups:
		t.MoreObjects++
		if !same {
			t.MoreGroups++
		}
		return
	case !same:
		t.Groups = append(t.Groups, Group{Kind: o.kind, Namespace: o.namespace})
	}
	g := &t.Groups[len(t.Groups)-1]
	if g.Objects++; len(g.Names) < maxNames {
		g.Names = append(g.Names, o.name)
	}
}

// compare walks two sorted lists of keys at once and keeps neither.
func compare(ctx context.Context, now, then iter.Seq2[string, error]) (*Differences, error) {
	a, stopA := newCursor(now, "as they are now")
	defer stopA()
	b, stopB := newCursor(then, "of the snapshot")
	defer stopB()
	var d Differences
	a.advance()
	b.advance()
	for {
		if err := errors.Join(a.err, b.err, ctx.Err()); err != nil {
			return nil, err
		}
		switch {
		case a.done && b.done:
			return &d, nil
		case b.done || !a.done && a.key < b.key:
			d.Vanish.count(a.key)
			a.advance()
		case a.done || b.key < a.key:
			d.Return.count(b.key)
			b.advance()
		default:
			a.advance()
			b.advance()
		}
	}
}

func (t *Tally) count(key string) {
	if o, ok := parseKey(key); ok {
		t.add(o)
	}
}

// cursor is a place in a sorted list.
type cursor struct {
	next          func() (string, error, bool)
	what, key     string
	started, done bool
	err           error
}

func newCursor(list iter.Seq2[string, error], what string) (*cursor, func()) {
	next, stop := iter.Pull2(list)
	return &cursor{next: next, what: what}, stop
}

func (c *cursor) advance() {
	key, err, more := c.next()
	c.done = !more
	switch {
	case !more:
		return
	case err != nil:
		c.err = fmt.Errorf("list the objects %s: %w", c.what, err)
	case c.started && key <= c.key:
		c.err = fmt.Errorf("list the objects %s: %w: %s after %s", c.what, errUnsorted, key, c.key)
	}
	c.key, c.started = key, true
}
