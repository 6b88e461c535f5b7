package guarded

import (
	"fmt"
	"os"
	"testing"

	"github.com/quorate/quorate/guard/rejoin"
)

// TestPowerFailure: the controller has recorded that it is about to remove main-2;
// then the power fails, the removal never happens, and one of the others has lost
// its disk. main-2 is needed: it starts, and there is a quorum again.
//
func TestPowerFailure(t *testing.T) {
	s := newSet(t, 3, 3)
	s.form()
	const written = 20
	client := s.client(s.pods[0])
	for i := range written {
		_, err := client.Put(t.Context(), writtenKey(i), fmt.Sprint(i))
		must(t, err)
	}
	id, err := s.ID(t.Context(), s.pods[2].Member)
	must(t, err)
	s.config.Ledger = []rejoin.Removal{{MemberID: rejoin.ID(id), ClusterID: s.config.Cluster.ID}}
	s.publish()
	for _, p := range s.pods {
		p.rest()
	}
	must(t, s.pods[1].wipe())

	for _, p := range s.pods {
		p.forget()
		p.run()
	}
	s.ready(s.pods[0], s.pods[2])
	s.has(s.pods[2], written)

	// The lost disk is not started over under its old ID: it asks to be replaced.
	s.refuses(s.pods[1], "ErrDiskLost: the member's disk is lost: member ")
	if _, err := os.Stat(s.pods[1].DataDir); !os.IsNotExist(err) {
		t.Errorf("the data directory of main-1 was touched: %v", err)
	}
	codes, starts := s.pods[2].answers()
	t.Logf("%d writes kept; main-2 answered %v and started etcd %d times in all", written, codes, starts)
}
