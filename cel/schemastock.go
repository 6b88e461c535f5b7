package cel

import (
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// stockValue is a value of ours that the API server's own value stands behind.
type stockValue interface{ stock() ref.Val }

// unwrapped gives a value in the API server's form, with all it holds: its values
// compare fields that no schema knows only with their own kind.
func unwrapped(v ref.Val) ref.Val {
	switch value := v.(type) {
	case stockValue:
		return value.stock()
	case traits.Lister:
		return plainList{value}
	case traits.Mapper:
		if _, decoded := value.Value().(map[string]any); !decoded {
			return plainMap{value}
		}
	}
	return v
}

// plainList is a list that an expression made, of unwrapped items.
type plainList struct{ traits.Lister }

// Get implements traits.Indexer.
func (l plainList) Get(index ref.Val) ref.Val { return unwrapped(l.Lister.Get(index)) }

// Iterator implements traits.Iterable.
func (l plainList) Iterator() traits.Iterator { return mappedIterator{l.Lister.Iterator(), unwrapped} }

// plainMap is a map that an expression made, of unwrapped values.
type plainMap struct{ traits.Mapper }

// Find implements traits.Mapper.
func (m plainMap) Find(key ref.Val) (ref.Val, bool) {
	v, found := m.Mapper.Find(key)
	if v != nil {
		v = unwrapped(v)
	}
	return v, found
}

// sumValue is what the API server makes of two lists, with items of ours.
type sumValue struct {
	traits.Lister
	items *nodeSchema
}

func (s sumValue) stock() ref.Val { return s.Lister }

// wrapped gives an item its schema again.
func (s sumValue) wrapped(v ref.Val) ref.Val {
	switch raw := v.Value().(type) {
	case map[string]any, []any:
		return s.items.val(raw)
	}
	return v
}

// Get implements traits.Indexer.
func (s sumValue) Get(index ref.Val) ref.Val { return s.wrapped(s.Lister.Get(index)) }

// Iterator implements traits.Iterable.
func (s sumValue) Iterator() traits.Iterator { return mappedIterator{s.Lister.Iterator(), s.wrapped} }

// Equal compares as the API server does.
func (s sumValue) Equal(other ref.Val) ref.Val { return s.Lister.Equal(unwrapped(other)) }

// Contains compares as the API server does.
func (s sumValue) Contains(v ref.Val) ref.Val { return s.Lister.Contains(unwrapped(v)) }

// Add merges as the API server does.
func (s sumValue) Add(other ref.Val) ref.Val { return sumOf(s.Lister, other, s.items) }

func sumOf(list traits.Adder, other ref.Val, items *nodeSchema) ref.Val {
	sum := list.Add(unwrapped(other))
	if made, ok := sum.(traits.Lister); ok {
		return sumValue{made, items}
	}
	return sum
}

// mappedIterator converts each item.
type mappedIterator struct {
	traits.Iterator
	item func(ref.Val) ref.Val
}

// Next implements traits.Iterator.
func (it mappedIterator) Next() ref.Val { return it.item(it.Iterator.Next()) }
