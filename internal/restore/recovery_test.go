package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"testing/synctest"
)

// A cluster that is wholly lost, without a marker: from the snapshot and the nodes alone.
func TestNewRecovery(t *testing.T) {
	p := newPlay()
	p.workers = 0
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		for i, n := range p.w.nodes { // one has data of the old etcd, two are empty
			if i > 0 {
				n.data, n.idle = nil, true
			}
		}
		delete(p.w.store.objects, MarkerName)
		p.desk.marker = nil
		job := p.second("person", true)
		sum := sha256.Sum256([]byte(plaintext))
		r := Recovery{Cluster: "prod", Identity: "person", Now: p.began, Snapshot: Snapshot{Name: "etcd-20300102T150405Z.snapshot.age"},
			Pinned: Pinned{PlainSum: hex.EncodeToString(sum[:]), Floor: floor}, Endpoints: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}}
		m, err := NewRecovery(context.Background(), job.Nodes, r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Markers{job.Store}).Create(context.Background(), m); err != nil {
			t.Fatal(err)
		}
		if p.result, err = job.Run(context.Background()); err != nil {
			t.Error(err)
		}
		p.workers = 0
		p.check(t)
		for _, tt := range []struct {
			endpoints []string
			want      string
		}{
			{nil, "no control plane is given; name the machine API of each of them with --node-endpoint"},
			{[]string{"192.0.2.1", "cp-a"}, "node cp-a: 192.0.2.1 is another endpoint of it; give each control plane once"},
			{[]string{"192.0.2.99"}, "ask node 192.0.2.99: no node has the address 192.0.2.99"},
		} {
			r.Endpoints = tt.endpoints
			if _, err := NewRecovery(context.Background(), job.Nodes, r); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		}
	})
}
