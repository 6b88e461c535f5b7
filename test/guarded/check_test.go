package guarded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

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

// check asks for the verdict on a copy of the pod's disk in dir, with what can be
// seen. config is the name of the file to write the configuration to.
func (p *pod) check(ctx context.Context, dir, config string, c agent.Config, can seen, id rejoin.ID) (verdict, error) {
	dataDir := filepath.Join(dir, "data")
	if err := etcdcluster.CopyDisk(p.DataDir, dataDir); err != nil {
		return verdict{}, err
	}
	if !can.tombstone {
		if err := unbury(dataDir, id); err != nil {
			return verdict{}, err
		}
	}
	if !can.list {
		c.Cluster.ClientEndpoints = []string{"http://" + p.set.Network.Address(len(p.set.pods), "2379")}
	}
	c.Ledger = nil
	if can.ledger {
		c.Ledger = []rejoin.Removal{{MemberID: id, ClusterID: c.Cluster.ID, Confirmed: true}}
	}
	if err := p.configure(c, dataDir, config); err != nil {
		return verdict{}, err
	}
	if can.list {
		return p.verdict(ctx, config, "10s")
	}
	return p.verdict(ctx, config, "300ms")
}

func (p *pod) verdict(ctx context.Context, config, listTimeout string) (verdict, error) {
	cmd := exec.CommandContext(ctx, p.set.binary, "check", "--config", p.file(config), "--name", p.Name, "--list-timeout", listTimeout, "-o", "json")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return verdict{}, err
	}
	var v verdict
	if err := json.Unmarshal(out, &v); err != nil || v.ExitCode != cmd.ProcessState.ExitCode() {
		return verdict{}, fmt.Errorf("check ended with %d and printed %q: %v: %s", cmd.ProcessState.ExitCode(), out, err, &complaints)
	}
	return v, nil
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
