package chaos

import (
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"
)

type action string

const (
	read  action = "read"
	write action = "write"
	// swap writes if the key has the old value, and reads it otherwise.
	swap action = "swap"
)

// request is one operation on one key. Values written are never used twice; a key
// that does not exist has the value "".
type request struct {
	key      string
	do       action
	old, new string
}

// response is what came back: the value of a read or of a refused swap.
type response struct {
	value string
	done  bool // the swap was done
	// unknown: it was done, will be done, or never is. Reads of unknown outcome are
	// not recorded.
	unknown bool
}

// never is the return of an operation of unknown outcome.
const never = math.MaxInt64

// keyValue is a store of independent keys, each with one value.
var keyValue = porcupine.Model{
	Partition: byKey,
	Init:      func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		return step(state.(string), input.(request), output.(response))
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

func step(state string, in request, out response) (bool, string) {
	switch {
	case in.do == read:
		return out.value == state, state
	case in.do == write:
		return true, in.new
	case out.done:
		return state == in.old, in.new
	case !out.unknown:
		return state != in.old && state == out.value, state
	case state == in.old:
		return true, in.new
	}
	return true, state
}

func byKey(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	index := map[string]int{}
	for _, o := range history {
		key := o.Input.(request).key
		i, ok := index[key]
		if !ok {
			i = len(parts)
			index[key], parts = i, append(parts, nil)
		}
		parts[i] = append(parts[i], o)
	}
	return parts
}

// settle makes a history with operations of unknown outcome cheap to judge, and does
// not change the verdict. Where nobody saw the value that one wrote, nothing tells it
// from one that never happened, so it goes. Where somebody did, it had happened when
// the first of those had the answer, so it ends then instead of never.
func settle(history []porcupine.Operation) (out []porcupine.Operation) {
	seen := sightings(history)
	for _, o := range history {
		if o.Output.(response).unknown {
			at, ok := seen[o.Input.(request).new]
			if !ok {
				continue
			}
			o.Return = max(at, o.Call)
		}
		out = append(out, o)
	}
	return out
}

// sightings are the returns of the first operations that saw a value.
func sightings(history []porcupine.Operation) map[string]int64 {
	seen := map[string]int64{}
	for _, o := range history {
		in, out := o.Input.(request), o.Output.(response)
		value := out.value
		switch {
		case in.do == write:
			continue
		case in.do == swap && (out.done || out.unknown):
			value = in.old
		}
		if at, ok := seen[value]; !ok || o.Return < at {
			seen[value] = o.Return
		}
	}
	return seen
}
