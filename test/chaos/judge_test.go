package chaos

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// What can be wrong with a history.
var (
	errIllegal   = errors.New("the history is not linearizable")
	errUndecided = errors.New("the history could not be judged in time")
)

// judgeFor is how long the history of one round may take to be judged.
const judgeFor = time.Minute

// judge answers nil only for a history that is proved to be linearizable.
func judge(history []porcupine.Operation, limit time.Duration) error {
	for _, part := range byKey(settle(history)) {
		switch porcupine.CheckOperationsTimeout(keyValue, part, limit) {
		case porcupine.Ok:
		case porcupine.Illegal:
			return fmt.Errorf("%w: key %s: %d operations", errIllegal, part[0].Input.(request).key, len(part))
		default:
			return fmt.Errorf("%w: key %s: %d operations", errUndecided, part[0].Input.(request).key, len(part))
		}
	}
	return nil
}

func op(call, back int64, in request, out response) porcupine.Operation {
	in.key = "k"
	return porcupine.Operation{Input: in, Call: call, Output: out, Return: back}
}

func TestWhatIsLinearizable(t *testing.T) {
	a, b := request{do: write, new: "a"}, request{do: write, new: "b"}
	aToC := request{do: swap, old: "a", new: "c"}
	saw := func(value string) response { return response{value: value} }
	get, done, unknown := request{do: read}, response{done: true}, response{unknown: true}
	for _, c := range []struct {
		name    string
		history []porcupine.Operation
		want    error
	}{
		{"in turn", []porcupine.Operation{op(1, 2, a, done), op(3, 4, get, saw("a"))}, nil},
		{"stale read", []porcupine.Operation{op(1, 2, a, done), op(3, 4, b, done), op(5, 6, get, saw("a"))}, errIllegal},
		{"lost write", []porcupine.Operation{op(1, 2, a, done), op(3, 4, get, saw(""))}, errIllegal},
		{"value from nowhere", []porcupine.Operation{op(1, 2, get, saw("a"))}, errIllegal},
		{"either order", []porcupine.Operation{op(1, 9, a, done), op(2, 8, b, done), op(10, 11, get, saw("a"))}, nil},
		{"swap done", []porcupine.Operation{op(1, 2, a, done), op(3, 4, aToC, done), op(5, 6, get, saw("c"))}, nil},
		{"swap done on another value", []porcupine.Operation{op(1, 2, b, done), op(3, 4, aToC, done)}, errIllegal},
		{"swap refused", []porcupine.Operation{op(1, 2, b, done), op(3, 4, aToC, saw("b"))}, nil},
		{"swap refused on its value", []porcupine.Operation{op(1, 2, a, done), op(3, 4, aToC, saw("a"))}, errIllegal},
		{"unknown, unseen", []porcupine.Operation{op(1, never, a, unknown), op(3, 4, get, saw(""))}, nil},
		{"unknown, seen later", []porcupine.Operation{op(1, never, a, unknown), op(3, 4, get, saw("")), op(5, 6, get, saw("a"))}, nil},
		{"unknown, seen and gone", []porcupine.Operation{op(1, never, a, unknown), op(3, 4, get, saw("a")), op(5, 6, get, saw(""))}, errIllegal},
		{"unknown, seen before", []porcupine.Operation{op(1, 2, get, saw("a")), op(3, never, a, unknown)}, errIllegal},
		{"unknown swap, done", []porcupine.Operation{op(1, 2, a, done), op(3, never, aToC, unknown), op(5, 6, get, saw("c"))}, nil},
		{"unknown swap, never possible", []porcupine.Operation{op(1, 2, b, done), op(3, never, aToC, unknown), op(5, 6, get, saw("c"))}, errIllegal},
	} {
		if got := judge(c.history, judgeFor); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Undecided is no pass.
func TestUndecidedFails(t *testing.T) {
	var history []porcupine.Operation
	for i := range 400 { // all at once, and a read of what nobody wrote: a long search
		history = append(history, op(1, 1000, request{do: write, new: fmt.Sprint(i)}, response{done: true}))
	}
	history = append(history, op(1001, 1002, request{do: read}, response{value: "x"}))
	if err := judge(history, time.Millisecond); !errors.Is(err, errUndecided) {
		t.Errorf("%v, want %v", err, errUndecided)
	}
}

// The verdict on a settled history is that on the history itself.
func TestSettleKeepsTheVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	verdicts := map[bool]int{}
	for range 20_000 {
		history := anyHistory(random)
		raw := porcupine.CheckOperations(keyValue, history)
		if settled := judge(history, 0) == nil; settled != raw {
			t.Fatalf("settled: %t, raw: %t: %+v", settled, raw, history)
		}
		verdicts[raw]++
	}
	if min(verdicts[true], verdicts[false]) < 1000 {
		t.Errorf("verdicts %v, want many of both", verdicts)
	}
}

// anyHistory is that of a few clients at a store that is wrong now and then.
func anyHistory(random *rand.Rand) (history []porcupine.Operation) {
	state, values := "", []string{""}
	for i := range int64(3 + random.IntN(6)) {
		call := 10*i - random.Int64N(25)
		in := request{do: []action{read, write, swap}[random.IntN(3)], old: values[random.IntN(len(values))], new: fmt.Sprint(i)}
		out, back := response{value: state}, 10*i+1+random.Int64N(25)
		happens := random.IntN(2) == 0
		if random.IntN(4) == 0 {
			out.value = values[random.IntN(len(values))]
		}
		unknown := in.do != read && random.IntN(3) == 0
		if happens || !unknown {
			if in.do == write || in.do == swap && in.old == state {
				state, out.done = in.new, true
				values = append(values, in.new)
			}
		}
		if unknown {
			out, back = response{unknown: true}, never
		} else if out.done {
			out.value = ""
		}
		history = append(history, op(call, back, in, out))
	}
	return history
}
