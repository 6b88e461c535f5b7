package snapshot

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// covers: C-2
func TestNames(t *testing.T) {
	at := time.Date(2030, 1, 2, 15, 4, 5, 999, time.FixedZone("", 3600))
	name := SnapshotName(at)
	if want := "etcd-20300102T140405Z.snapshot.age"; name != want {
		t.Errorf("got %s, want %s", name, want)
	}
	if got, want := MetaName(name), "etcd-20300102T140405Z.snapshot.json"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, ok := ParseName(name); !ok || !got.Equal(at.Truncate(time.Second)) {
		t.Errorf("got %v, %t", got, ok)
	}
	for _, other := range []string{
		"", "etcd-restore.snapshot.age", "etcd-restore.marker.json", MetaName(name), "x" + name, name + "x",
		"etcd-20301302T140405Z.snapshot.age", "etcd-20300102T140405.5Z.snapshot.age", "etcd-.snapshot.age",
	} {
		if got, ok := ParseName(other); ok {
			t.Errorf("%q is read as %v", other, got)
		}
	}
}

func TestMeta(t *testing.T) {
	at := time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)
	want := Meta{
		Schema: 1, Name: SnapshotName(at), Cluster: "main", Namespace: "fleet", TalosClusterID: "id", EtcdClusterID: "abc", Time: at, Revision: 7, Keys: 3,
		Members: []Member{{ID: "1f", Name: "cp-1", PeerURLs: []string{"https://cp-1.example.com:2380"}, Learner: true}},
		Size:    100, PlainSize: 50, Sum: "sha256:1", PlainSum: "sha256:2", Authorities: Fingerprints{"sha256:3", "sha256:4", "sha256:5"},
		KeyFingerprint: "sha256:6", Quorate: "v1", Verified: &Verified{Revision: 7, Keys: 3, Members: 1, At: at}, UndoOf: "restore-1",
	}
	data, err := want.Encode()
	must(t, err)
	got, err := DecodeMeta(data)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, err = DecodeMeta([]byte(strings.Replace(string(data), "{", `{"later": true,`, 1))); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("with a field that is not known: %+v, %v", got, err)
	}
}

func TestBadMeta(t *testing.T) {
	const rest = `"size": 1, "plainSize": 1, "sum": "s", "plainSum": "s"`
	for _, tt := range []struct {
		name, data string
		kind       error
		want       string
	}{
		{"no JSON", "{", ErrMeta, "what is written beside the snapshot cannot be read: it is no JSON: unexpected end of JSON input"},
		{"newer", `{"schema": 2, "size": "of another kind"}`, ErrNewerMeta, "what is written beside the snapshot is of a newer Quorate: schema 2, and this version reads up to 1; use the newer one"},
		{"no schema", `{"name": "etcd-20300102T140405Z.snapshot.age",` + rest + `}`, ErrMeta, "what is written beside the snapshot cannot be read: it has no schema"},
		{"no name", `{"schema": 1, "name": "../x",` + rest + `}`, ErrMeta, `what is written beside the snapshot cannot be read: "../x" is no name of a snapshot`},
		{"no sums", `{"schema": 1, "name": "etcd-20300102T140405Z.snapshot.age"}`, ErrMeta, "what is written beside the snapshot cannot be read: the sums or sizes of etcd-20300102T140405Z.snapshot.age are missing"},
		{"large", strings.Repeat(" ", maxMeta+1), ErrMeta, "what is written beside the snapshot cannot be read: it has 1048577 bytes, and at most 1048576 are read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeMeta([]byte(tt.data))
			if !errors.Is(err, tt.kind) || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
