package restoreplan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

func listed(keys ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, k := range keys {
			if !yield(k, nil) {
				return
			}
		}
	}
}

func TestParseKey(t *testing.T) {
	for _, tt := range []struct {
		key  string
		want object
		ok   bool
	}{
		{"/registry/pods/shop/web-1", object{"pods", "shop", "web-1"}, true},
		{"/registry/namespaces/shop", object{"namespaces", "", "shop"}, true},
		{"/registry/minions/cp-a", object{"nodes", "", "cp-a"}, true},
		{"/registry/controllers/shop/old", object{"replicationcontrollers", "shop", "old"}, true},
		{"/registry/services/specs/shop/web", object{"services", "shop", "web"}, true},
		{"/registry/services/endpoints/shop/web", object{"endpoints", "shop", "web"}, true},
		{"/registry/clusterroles/system:node", object{"clusterroles", "", "system:node"}, true},
		{"/registry/quorate.dev/talosmachines/default/cp-a", object{"talosmachines.quorate.dev", "default", "cp-a"}, true},
		{"/registry/apiextensions.k8s.io/customresourcedefinitions/etcds.quorate.dev", object{"customresourcedefinitions.apiextensions.k8s.io", "", "etcds.quorate.dev"}, true},
		{"/registry/masterleases/192.0.2.11", object{}, false},
		{"/registry/ranges/serviceips", object{}, false},
		{"/registry/health", object{}, false},
		{"compact_rev_key", object{}, false},
		{"/registry/pods", object{"pods", "", ""}, false},
		{"/registry/pods/a/b/c", object{}, false},
	} {
		if o, ok := parseKey(tt.key); ok != tt.ok || ok && o != tt.want {
			t.Errorf("%s: got %+v, %v", tt.key, o, ok)
		}
	}
}

func TestCompare(t *testing.T) {
	now := listed("/registry/configmaps/shop/a", "/registry/configmaps/shop/c", "/registry/health", "/registry/pods/bank/web", "/registry/pods/shop/web")
	then := listed("/registry/configmaps/shop/a", "/registry/configmaps/shop/b", "/registry/minions/cp-d", "/registry/pods/shop/web", "/registry/secrets/shop/s")
	got, err := compare(t.Context(), now, then)
	if err != nil {
		t.Fatal(err)
	}
	got.Vanish.last, got.Return.last = object{}, object{}
	want := &Differences{
		Vanish: Tally{Objects: 2, Groups: []Group{{"configmaps", "shop", 1, []string{"c"}}, {"pods", "bank", 1, []string{"web"}}}},
		Return: Tally{Objects: 3, Groups: []Group{{"configmaps", "shop", 1, []string{"b"}}, {"nodes", "", 1, []string{"cp-d"}}, {"secrets", "shop", 1, []string{"s"}}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Every pair of subsets of four keys.
func TestCompareAll(t *testing.T) {
	keys := []string{"/registry/pods/a/1", "/registry/pods/a/2", "/registry/pods/b/1", "/registry/secrets/a/1"}
	subset := func(bits int) (out []string) {
		for i, k := range keys {
			if bits&(1<<i) != 0 {
				out = append(out, k)
			}
		}
		return out
	}
	for a := range 1 << len(keys) {
		for b := range 1 << len(keys) {
			got, err := compare(t.Context(), listed(subset(a)...), listed(subset(b)...))
			if err != nil {
				t.Fatal(err)
			}
			if v, r := len(subset(a&^b)), len(subset(b&^a)); got.Vanish.Objects != v || got.Return.Objects != r {
				t.Errorf("%v against %v: %d vanish and %d return, want %d and %d", subset(a), subset(b), got.Vanish.Objects, got.Return.Objects, v, r)
			}
		}
	}
}

func TestCompareFails(t *testing.T) {
	broken := func(yield func(string, error) bool) { yield("", errors.New("the store is away")) }
	for _, tt := range []struct {
		now, then iter.Seq2[string, error]
		want      string
	}{
		{listed("/registry/b", "/registry/a"), listed(), "list the objects as they are now: the keys are not in order: /registry/a after /registry/b"},
		{listed(), listed("/registry/a", "/registry/a"), "list the objects of the snapshot: the keys are not in order: /registry/a after /registry/a"},
		{listed("/registry/a"), broken, "list the objects of the snapshot: the store is away"},
	} {
		if d, err := compare(t.Context(), tt.now, tt.then); d != nil || err == nil || err.Error() != tt.want {
			t.Errorf("got %v, %v; want %s", d, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := compare(ctx, listed("/registry/a"), listed()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Many objects, two in each namespace: what is kept stays
// small, and the counts stay right.
func TestCompareIsBounded(t *testing.T) {
	const objects = 200_000
	many := func(yield func(string, error) bool) {
		for i := range objects {
			if !yield(fmt.Sprintf("/registry/configmaps/n%07d/c%07d", i/2, i), nil) {
				return
			}
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	d, err := compare(t.Context(), many, listed())
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	v := d.Vanish
	if v.Objects != objects || len(v.Groups) != maxGroups || v.MoreGroups != objects/2-maxGroups || v.MoreObjects != objects-2*maxGroups {
		t.Errorf("%d objects, %d groups, %d more with %d", v.Objects, len(v.Groups), v.MoreGroups, v.MoreObjects)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
	one := func(yield func(string, error) bool) {
		for _, k := range slices.Sorted(func(y func(string) bool) {
			for i := range 100 {
				if !y(fmt.Sprintf("/registry/pods/shop/p%d", i)) {
					return
				}
			}
		}) {
			if !yield(k, nil) {
				return
			}
		}
	}
	d, err = compare(t.Context(), listed(), one)
	if err != nil || len(d.Return.Groups) != 1 || d.Return.Groups[0].Objects != 100 || len(d.Return.Groups[0].Names) != maxNames {
		t.Errorf("%+v, %v", d, err)
	}
}
