package guarded

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/internal/agent"
	"github.com/quorate/quorate/test/etcdcluster"
)

// verdict is what `quorate-guard check -o json` prints, as far as it is used here.
type verdict struct {
	Action   rejoin.Action `json:"action"`
	By       rejoin.By     `json:"by"`
	Error    string        `json:"error"`
	Reason   string        `json:"reason"`
	ExitCode int           `json:"exitCode"`
}

// check asks for the verdict on a copy of the pod's disk, with what can be seen.
func (p *pod) check(t *testing.T, c agent.Config, can seen, id rejoin.ID) verdict {
	t.Helper()
	dataDir := filepath.Join(t.TempDir(), "data")
	must(t, etcdcluster.CopyDisk(p.DataDir, dataDir))
	if !can.tombstone {
		must(t, unbury(dataDir, id))
	}
	if !can.list {
		c.Cluster.ClientEndpoints = []string{"http://" + p.set.Network.Address(len(p.set.pods), "2379")}
	}
	c.Ledger = nil
	if can.ledger {
		c.Ledger = []rejoin.Removal{{MemberID: id, ClusterID: c.Cluster.ID, Confirmed: true}}
	}
	must(t, p.configure(c, dataDir, "check.yaml"))
	return p.verdict(t, "check.yaml")
}

func (p *pod) verdict(t *testing.T, config string) verdict {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.set.binary, "check", "--config", p.file(config), "--name", p.Name, "--list-timeout", "300ms", "-o", "json")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var v verdict
	if err := json.Unmarshal(out, &v); err != nil || v.ExitCode != cmd.ProcessState.ExitCode() {
		t.Fatalf("check ended with %d and printed %q: %v\n%s", cmd.ProcessState.ExitCode(), out, err, &complaints)
	}
	return v
}

// unbury takes the member's tombstone out of a copy of its disk, as if etcd had not
// come to write it.
func unbury(dataDir string, id rejoin.ID) error {
	db, err := bbolt.Open(filepath.Join(dataDir, "member", "snap", "db"), os.FileMode(0o600), nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if b := tx.Bucket([]byte("members_removed")); b != nil {
			return b.Delete([]byte(id.String()))
		}
		return nil
	})
	return errors.Join(err, db.Close())
}
