package cel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// maxShown is how much of a value's text is shown, in bytes.
const maxShown = 200

// shownValue spells a value, cut where it is long.
func shownValue(v ref.Val) string {
	text := valueText(v)
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

func valueText(v ref.Val) string {
	switch value := v.(type) {
	case nil:
		return ""
	case *types.Err:
		return "error: " + value.String()
	case types.String:
		return strconv.Quote(string(value))
	case types.Null:
		return "null"
	case *types.Optional:
		if !value.HasValue() {
			return "none"
		}
		return valueText(value.GetValue())
	}
	if data, err := json.Marshal(decoded(v)); err == nil {
		return string(data)
	}
	return fmt.Sprint(v.Value())
}

// decoded gives lists and maps that an expression made the form of those that
// were decoded.
func decoded(v ref.Val) any {
	switch raw := v.Value().(type) {
	case map[string]any, []any:
		return raw
	}
	switch value := v.(type) {
	case traits.Lister:
		list := []any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			list = append(list, decoded(it.Next()))
		}
		return list
	case traits.Mapper:
		object := map[string]any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			object[fmt.Sprint(key.Value())] = decoded(value.Get(key))
		}
		return object
	}
	return v.Value()
}
