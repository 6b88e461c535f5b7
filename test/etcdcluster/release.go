package etcdcluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quorate/quorate/test/cluster"
)

// Release is an etcd of one version.
type Release struct {
	// Version is that of the module, such as 3.5.35.
	Version string
	// Server and Util are the binaries etcd and etcdutl.
	Server, Util string
}

// All asks Releases for every minor that the repository has.
const All = "all"

// buildTimeout bounds a build of three releases from cold caches.
const buildTimeout = 45 * time.Minute

// found are the answers of before in this process, by minor: each costs a second or two of
// the compiler's, and a package of tests asks dozens of times.
var found sync.Map

// Releases answers one minor, such as 3.6, or All of them by rising version. What
// is missing is built, with its progress; what is there is used.
func Releases(ctx context.Context, minor string, progress io.Writer) ([]Release, error) {
	if before, ok := found.Load(minor); ok {
		return slices.Clone(before.([]Release)), nil
	}
	out, err := findReleases(ctx, minor, progress)
	if err == nil {
		found.Store(minor, slices.Clone(out))
	}
	return out, err
}

func findReleases(ctx context.Context, minor string, progress io.Writer) ([]Release, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	module, err := cluster.GoCommand(ctx, io.Discard, "env", "GOMOD")
	if err != nil {
		return nil, fmt.Errorf("find the etcd binaries: %w", err)
	}
	builder := filepath.Join(filepath.Dir(module), "tools", "build")
	folders, err := cluster.GoCommand(ctx, progress, "-C", builder, "run", ".", "--etcd", minor)
	if err != nil {
		return nil, fmt.Errorf("find or build the etcd binaries (make tools does it alone): %w", err)
	}
	var out []Release
	for _, dir := range strings.Fields(folders) {
		out = append(out, Release{
			Version: strings.TrimPrefix(filepath.Base(dir), "etcd-"),
			Server:  filepath.Join(dir, "etcd"),
			Util:    filepath.Join(dir, "etcdutl"),
		})
	}
	return out, nil
}

// Restore makes a data directory for the member from a snapshot, as for a cluster
// of the given founders with its own token. The member must not run.
func (r Release) Restore(ctx context.Context, snapshot, dataDir string, m *Member, founders ...*Member) error {
	cmd := exec.CommandContext(ctx, r.Util, "snapshot", "restore", snapshot,
		"--data-dir="+dataDir, "--name="+m.Name, "--initial-advertise-peer-urls="+m.PeerURL,
		"--initial-cluster="+initialCluster(founders), "--initial-cluster-token="+m.cluster.Token)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("restore %s: %w: %s", snapshot, err, bytes.TrimSpace(out))
	}
	return nil
}
