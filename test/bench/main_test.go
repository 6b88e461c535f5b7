package main

import (
	"path/filepath"
	"reflect"
	"testing"
)

// A part of the benchmarks replaces its own rows, each in its place, and keeps
// those of the others.
func TestAPartKeepsTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bin", "bench.json")
	engine, old, now := Row{Name: "engine", Against: "a", Value: 1}, Row{Name: "tls", Against: "a", Value: 2}, Row{Name: "tls", Against: "a", Value: 3}
	other, last := Row{Name: "tls", Against: "b", Value: 4}, Row{Name: "rejoin", Against: "a", Value: 5}
	for _, step := range []struct{ measured, want []Row }{
		{[]Row{engine, old, last}, []Row{engine, old, last}},
		{[]Row{now, other}, []Row{engine, now, last, other}},
		{nil, []Row{engine, now, last, other}},
	} {
		before, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(path, merged(before, step.measured)); err != nil {
			t.Fatal(err)
		}
		if got, err := read(path); err != nil || !reflect.DeepEqual(got, step.want) {
			t.Errorf("after %+v: %+v, %v, want %+v", step.measured, got, err, step.want)
		}
	}
}
