package talos

import (
	"context"
	"reflect"
	"testing"
)

func TestHealthyNode(t *testing.T) {
	b := loadBundle(t)
	n := newNode(t, b, Options{Address: newServer(t, b, nil).address, Role: Admin})
	type hostname struct{ name, domain string }
	cases := []struct {
		name string
		call func(context.Context) (any, error)
		want any
	}{
		{"version", any1(n.Version), "v1.13.9"},
		{"boot ID", any1(n.BootID), "6c4b2d6e-0b7c-4a1f-9d5e-3f2a1b0c9d8e"},
		{"hostname", func(ctx context.Context) (any, error) {
			name, domain, err := n.Hostname(ctx)
			return hostname{name, domain}, err
		}, hostname{"cp-1", "example.com"}},
		{"name of the Node", any1(n.NodeName), "cp-1.example.com"},
		{"own member", any1(n.MemberID), uint64(0xa)},
		{"own cluster", any0(n.VerifyCluster), nil},
		{"members", any1(n.Members), []Member{
			{ID: 0xa, Hostname: "cp-1", PeerURLs: []string{"https://10.5.0.1:2380"}, ClientURLs: []string{"https://10.5.0.1:2379"}},
			{ID: 0xb, PeerURLs: []string{"https://10.5.0.2:2380"}, Learner: true},
		}},
		{"status", any1(n.EtcdStatus), EtcdStatus{MemberID: 0xa, Leader: 0xa, Term: 2, Index: 30, Applied: 29, DBSize: 4096, Version: "3.6.4", Errors: []string{"NOSPACE"}}},
		{"forfeit", any1(n.ForfeitLeadership), "cp-2"},
		{"leave", any0(n.Leave), nil},
		{"remove", removeOf(n, 0xb), nil},
		{"remove one that is gone", removeOf(n, 0xc), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.call(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func any1[T any](call func(context.Context) (T, error)) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) { return call(ctx) }
}

func any0(call func(context.Context) error) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) { return nil, call(ctx) }
}

func removeOf(n *Node, id uint64) func(context.Context) (any, error) {
	return any0(func(ctx context.Context) error { return n.RemoveMember(ctx, id) })
}

// What a Reader may not do is denied by the node.
func TestReader(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	n := newNode(t, b, Options{Address: s.address})
	for method, call := range everyCall(n) {
		_, err := call(t.Context())
		var want error
		if !roles()[method].Includes("os:reader") {
			want = ErrDenied
		}
		if !isOrNil(err, want) {
			t.Errorf("%s: got %v, want %v", method, err, want)
		}
	}
}
