package cel

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/common"
)

// listValue is a list of any list type.
type listValue struct {
	elements []any
	schema   *nodeSchema
}

func (l *listValue) stock() ref.Val { return common.UnstructuredToVal(l.elements, l.schema) }

func (l *listValue) item(v any) ref.Val { return l.schema.items.(*nodeSchema).val(v) }

// Get implements traits.Indexer.
func (l *listValue) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || int(i) >= len(l.elements) {
		return types.NewErr("index out of bounds: %v", index)
	}
	return l.item(l.elements[i])
}

// Size implements traits.Sizer.
func (l *listValue) Size() ref.Val { return types.Int(len(l.elements)) }

// Iterator walks the items.
func (l *listValue) Iterator() traits.Iterator { return &listIterator{listValue: l} }

type listIterator struct {
	*listValue
	next int
}

// HasNext implements traits.Iterator.
func (it *listIterator) HasNext() ref.Val { return types.Bool(it.next < len(it.elements)) }

// Next implements traits.Iterator.
func (it *listIterator) Next() ref.Val {
	item := it.item(it.elements[it.next])
	it.next++
	return item
}

// Contains compares as the API server does.
func (l *listValue) Contains(v ref.Val) ref.Val {
	return l.stock().(traits.Container).Contains(unwrapped(v))
}

// Add merges as the list's type has it.
func (l *listValue) Add(other ref.Val) ref.Val {
	return sumOf(l.stock().(traits.Adder), other, l.schema.items.(*nodeSchema))
}

// Type implements ref.Val, as do the three below.
func (l *listValue) Type() ref.Type { return types.ListType }

// Value gives the elements as they were decoded.
func (l *listValue) Value() any { return l.elements }

// Equal compares as the list's type has it: by position, by key, or as a set.
func (l *listValue) Equal(other ref.Val) ref.Val { return l.stock().Equal(unwrapped(other)) }

// ConvertToNative gives the decoded elements.
func (l *listValue) ConvertToNative(t reflect.Type) (any, error) {
	return l.stock().ConvertToNative(t)
}

// ConvertToType knows a list and a type.
func (l *listValue) ConvertToType(t ref.Type) ref.Val {
	if t == types.ListType {
		return l
	}
	return l.stock().ConvertToType(t)
}
