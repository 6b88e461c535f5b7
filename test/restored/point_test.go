package restored

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// kind is what goes wrong at a call.
type kind string

const (
	killedBefore   kind = "the manager is killed before"
	killedAfter    kind = "the manager is killed after"
	podLostBefore  kind = "the manager's pod is deleted before"
	podLostAfter   kind = "the manager's pod is deleted after"
	nodeLostBefore kind = "the manager's node loses its power before"
	nodeLostAfter  kind = "the manager's node loses its power after"
	rebootBefore   kind = "a control plane loses its power before"
	rebootAfter    kind = "a control plane reboots after"
	answerLost     kind = "the answer is lost of"
	storeAway      kind = "the store is away from"
)

var allKinds = []kind{
	killedBefore, killedAfter, podLostBefore, podLostAfter, nodeLostBefore, nodeLostAfter, rebootBefore, rebootAfter, answerLost, storeAway,
}

// onlyAfter are those at what can be seen only once it has happened.
var onlyAfter = []kind{killedAfter, podLostAfter, nodeLostAfter, rebootAfter, storeAway}

// point is where something goes wrong, once: at the nth call of its name since the restore
// was ordered. The zero point is nowhere.
type point struct {
	kind kind
	call string
	nth  int
}

func (p point) String() string {
	if p.kind == "" {
		return "nothing goes wrong"
	}
	return fmt.Sprintf("%s %s, number %d", p.kind, p.call, p.nth)
}

// seen tells whether the call is met for certain: a step of the operation may be over before
// anybody has looked, as the API servers go.
func (p point) seen() bool { return !strings.HasPrefix(p.call, stepCall) }

// stepCall begins the names of the operation's steps.
const stepCall = "step "

// site is a call that every restore makes at least so often.
type site struct {
	call  string
	times int
	kinds []kind
}

// sites are the calls that change something, and those that a restore stands or falls
// with: of the machines, of the store, and of the API, where the status is seen change.
var sites = []site{
	{"EtcdSnapshot", 1, allKinds}, {"Reset", 3, allKinds}, {"EtcdRecover", 1, allKinds}, {"Bootstrap", 1, allKinds},
	{"EtcdAlarmList", 1, allKinds}, {"ServiceRestart", 1, allKinds},
	{"PUT marker", 6, allKinds}, {"GET marker", 5, allKinds}, {"PUT copy", 1, allKinds}, {"DELETE copy", 1, allKinds}, {"DELETE marker", 1, allKinds},
	{stepCall + "Wiping", 1, onlyAfter}, {stepCall + "Rejoining", 1, onlyAfter}, {stepCall + "Reconciling", 1, onlyAfter},
}

// points are all of them, in an order by chance.
func points(seed uint64) (out []point) {
	for _, s := range sites {
		for nth := 1; nth <= s.times; nth++ {
			for _, k := range s.kinds {
				out = append(out, point{k, s.call, nth})
			}
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// seedVariable repeats a draw, countVariable says how many are drawn.
const (
	seedVariable  = "QUORATE_CRASH_SEED"
	countVariable = "QUORATE_CRASH_COUNT"
)

func numberOf(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text, set := os.LookupEnv(variable)
	if !set {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	must(t, err)
	return n
}
