package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

const lostSnapshot = "etcd-20300102T150405Z.snapshot.age"

// lost is a cluster without an API: a bundle, and a folder with the record of a snapshot.
type lost struct{ bundle, folder, temp string }

func newLost(t *testing.T) lost {
	t.Helper()
	dir := t.TempDir()
	l := lost{filepath.Join(dir, "secrets.yaml"), filepath.Join(dir, "backups"), filepath.Join(dir, "tmp")}
	t.Setenv("TMPDIR", l.temp)
	made, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	check(t, err)
	data, err := yaml.Marshal(made)
	check(t, err)
	check(t, os.Mkdir(l.temp, 0o700))
	check(t, os.Mkdir(l.folder, 0o700))
	check(t, os.WriteFile(l.bundle, data, 0o600))
	key, err := snapshot.DeriveKey(data)
	check(t, err)
	found, err := snapshot.Authorities(data)
	check(t, err)
	meta := snapshot.Meta{Name: lostSnapshot, Cluster: "prod", Namespace: "default", Time: time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC), Revision: 11,
		Size: 1, PlainSize: 1, Sum: "sha256:00", PlainSum: "sha256:00", Authorities: found, KeyFingerprint: key.Fingerprint(), Quorate: "v1.0.0"}
	text, err := meta.Encode()
	check(t, err)
	at, err := store.NewFolder(l.folder)
	check(t, err)
	_, err = at.Create(t.Context(), snapshot.MetaName(lostSnapshot), text)
	check(t, err)
	return l
}

// run gives what the command says, with the paths left out.
func (l lost) run(t *testing.T, in string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	linked := version
	version = "v9.9.9"
	defer func() { version = linked }()
	root := newRestoreCommand()
	root.SilenceUsage, root.SilenceErrors = true, true
	var out, errs bytes.Buffer
	root.SetArgs(args)
	root.SetIn(strings.NewReader(in))
	root.SetOut(&out)
	root.SetErr(&errs)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		errs.WriteString("quorate: " + err.Error() + "\n")
	}
	return exitCode(err), out.String(), errs.String()
}

// joined are control planes that have rejoined etcd, all of them.
type joined struct{ wiped []string }

func (j *joined) Node(address string) (restore.NodeClient, error) { return joinedNode{j, address}, nil }

func (j *joined) Probe(_ context.Context, address string) (restore.Probe, error) {
	members := j.members()
	i := slices.IndexFunc(members, func(m guard.Member) bool { return m.Name == "node-"+address })
	return restore.Probe{ClusterID: 9, MemberID: members[i].ID, Revision: 2_000_000_000, Members: members}, nil
}

func (j *joined) members() (out []guard.Member) {
	for i, a := range []string{"192.0.2.11", "192.0.2.12"} {
		out = append(out, guard.Member{ID: uint64(i) + 1, Name: "node-" + a, PeerURLs: []string{"https://" + a + ":2380"}, Started: true, Healthy: true})
	}
	return out
}

type joinedNode struct {
	*joined
	at string
}

var errUnwanted = errors.New("nobody should ask for that")

func (n joinedNode) BootID(context.Context) (string, error)          { return n.at + " again", nil }
func (n joinedNode) HasEtcdData(context.Context) (bool, error)       { return true, nil }
func (n joinedNode) Members(context.Context) ([]guard.Member, error) { return n.members(), nil }
func (n joinedNode) EtcdService(context.Context) (restoring.Service, error) {
	return restoring.Service{}, errUnwanted
}
func (n joinedNode) Alarms(context.Context) ([]string, error)  { return nil, nil }
func (n joinedNode) ForfeitLeadership(context.Context) error   { return errUnwanted }
func (n joinedNode) Leave(context.Context) error               { return errUnwanted }
func (n joinedNode) RestartKubelet(context.Context) error      { return nil }
func (n joinedNode) NodeName(context.Context) (string, error)  { return "node-" + n.at, nil }
func (n joinedNode) Volumes(context.Context) ([]string, error) { return []string{"ETCD"}, nil }
func (n joinedNode) Recover(context.Context, io.Reader) error  { return errUnwanted }
func (n joinedNode) Bootstrap(context.Context) error           { return errUnwanted }
func (n joinedNode) Reset(context.Context, []string) error {
	n.wiped = append(n.wiped, n.at)
	return nil
}
