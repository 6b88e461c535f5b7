package talos

import (
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const looking = "look for etcd's data at NODE: "

func dataOf(r *Restorer) func(context.Context) (any, error) { return any1(r.HasEtcdData) }

// havingPaths is a machine that has these, each with the error of its entry.
func havingPaths(paths map[string]string) func(*server) {
	return func(s *server) { s.played.paths = paths }
}

func TestHasEtcdData(t *testing.T) {
	b := loadBundle(t)
	for _, c := range []struct {
		name  string
		paths map[string]string
		want  bool
	}{
		{"data", map[string]string{"/var/lib": "", "/var/lib/etcd/member": ""}, true},
		{"a wiped disk", map[string]string{"/var/lib": ""}, false},
		{"gone while it is listed", map[string]string{"/var/lib": "", "/var/lib/etcd/member": "lstat /var/lib/etcd/member: no such file or directory"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRestorer(t, b, Options{Address: newServer(t, b, havingPaths(c.paths)).address, Role: Reader})
			if got, err := r.HasEtcdData(t.Context()); err != nil || got != c.want {
				t.Errorf("got %t, %v, want %t", got, err, c.want)
			}
		})
	}
}

// A node that cannot tell does not say that there is nothing.
func TestWhetherThereIsDataCannotBeTold(t *testing.T) {
	listing := func(err error) func(*server) { return func(s *server) { s.played.listing = err } }
	for _, c := range []failure{
		{name: "disk not mounted", server: havingPaths(nil), restore: dataOf, kind: ErrNotReady,
			message: looking + "the node is not ready for it yet: there is no /var/lib yet; wait for the node to boot, and see its console if it does not"},
		{name: "ill disk", server: listing(errors.New("lstat /var/lib/etcd/member: input/output error")), restore: dataOf, kind: ErrFailed,
			message: looking + "the node answers with an error: rpc error: code = Unknown desc = lstat /var/lib/etcd/member: input/output error" + logs},
		{name: "ill disk told in the entry", server: havingPaths(map[string]string{"/var/lib/etcd/member": "input/output error"}), restore: dataOf, kind: ErrFailed,
			message: looking + "the node answers with an error: input/output error" + logs},
		{name: "something else is missing", server: listing(errors.New("open /run/machined.sock: no such file or directory")), restore: dataOf, kind: ErrFailed,
			message: looking + "the node answers with an error: rpc error: code = Unknown desc = open /run/machined.sock: no such file or directory" + logs},
		{name: "another code", server: listing(status.Error(codes.Unavailable, "lstat /var/lib/etcd/member: no such file or directory")), restore: dataOf, kind: ErrFailed,
			message: looking + "the node answers with an error: rpc error: code = Unavailable desc = lstat /var/lib/etcd/member: no such file or directory" + logs},
		{name: "empty", server: listing(io.EOF), restore: dataOf, kind: ErrFailed,
			message: looking + "the node answers with an error: the answer is empty" + logs},
	} {
		t.Run(c.name, c.run)
	}
}

// The text of a missing path is the one text that decides, with its code and its path.
func TestMissing(t *testing.T) {
	const text = "lstat /var/lib/etcd/member: no such file or directory"
	for _, c := range []struct {
		code codes.Code
		text string
		want bool
	}{
		{codes.Unknown, text, true},
		{codes.Unknown, "failed to list: " + text, true},
		{codes.Unavailable, text, false},
		{codes.NotFound, text, false},
		{codes.Unknown, text + "s", false},
		{codes.Unknown, "lstat /var/lib/etcd: no such file or directory", false},
		{codes.Unknown, "lstat /other/var/lib/etcd/member: no such file or directory", false},
		{codes.Unknown, "", false},
	} {
		if got := missing(c.code, c.text, "/var/lib/etcd/member"); got != c.want {
			t.Errorf("%s %q: %t, want %t", c.code, c.text, got, c.want)
		}
	}
}
