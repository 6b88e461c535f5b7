package worker

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/quorate/quorate/internal/snapshot"
)

func TestInspect(t *testing.T) {
	path := snapshotOf(t, small)
	got, err := (&snapshot.Worker{}).Inspect(t.Context(), path)
	must(t, err)
	want := snapshot.Inspection{
		Revision: 9, Keys: 5, Size: got.Size, Sum: got.Sum,
		Members: []snapshot.Member{
			{ID: "2", Name: "cp-1", PeerURLs: []string{"https://cp-1.example.com:2380"}},
			{ID: "1", Name: "cp-2", PeerURLs: []string{"https://cp-2.example.com:2380"}, Learner: true},
		},
		CRDs: []snapshot.CRD{{Name: "etcds.quorate.dev", Versions: []string{"v1alpha1", "v1"}}, {Name: "talosclusters.quorate.dev"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReseal(t *testing.T) {
	w, path := &snapshot.Worker{}, snapshotOf(t, small)
	out := filepath.Join(t.TempDir(), "resealed")
	made, err := w.Reseal(t.Context(), path, out, 1e9)
	must(t, err)
	got, err := w.Inspect(t.Context(), out)
	must(t, err)
	if got.Revision != 1e9+9 || got.Compacted != 1e9+9 || got.Keys != 5 || len(got.Members) != 1 {
		t.Errorf("got %+v", got)
	}
	if want := (snapshot.Resealed{Revision: 1e9 + 9, Before: 9, Keys: 5, Size: got.Size, Sum: got.Sum}); made != want {
		t.Errorf("got %+v, want %+v", made, want)
	}
	t.Logf("%+v", made)
}

func TestKeys(t *testing.T) {
	path := snapshotOf(t, small)
	var got []string
	for key, err := range (&snapshot.Worker{}).Keys(t.Context(), path, "/registry/pods/") {
		must(t, err)
		got = append(got, key)
	}
	if want := []string{"/registry/pods/default/a", "/registry/pods/default/b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
