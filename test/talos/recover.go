package talos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
)

// snapshot is /var/lib/etcd.snapshot.
func (d disk) snapshot() string {
	return d.at(constants.EtcdRecoverySnapshotPath)
}

// EtcdRecover keeps what is uploaded as the snapshot for a later Bootstrap, in the place of
// one that is there. Nothing of it is checked, nor whether another upload is under way:
// the client's half-close is all that makes it complete. A stream that breaks removes
// the file, and a loss of power leaves what has come.
func (a *api) EtcdRecover(stream grpc.ClientStreamingServer[common.Data, machine.EtcdRecoverResponse]) error {
	if err := a.onControlPlane("etcd recover"); err != nil {
		return err
	}
	file := a.boot.node.disk.snapshot()
	missing, _ := a.boot.ready.lacks(partVar)
	if _, err := os.Stat(filepath.Dir(file)); missing != "" || errors.Is(err, fs.ErrNotExist) {
		return errNoVar
	}
	if err := receive(stream, file); err != nil {
		if a.boot.ctx.Err() == nil {
			_ = os.Remove(file) // it may be gone with its partition
		}
		return err
	}
	return stream.SendAndClose(&machine.EtcdRecoverResponse{Messages: []*machine.EtcdRecover{{}}})
}

func receive(stream grpc.ClientStreamingServer[common.Data, machine.EtcdRecoverResponse], path string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700)
	if err != nil {
		return fmt.Errorf("error creating etcd recovery snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := file.Write(chunk.Bytes); err != nil {
			return fmt.Errorf("error writing snapshot: %w", err)
		}
	}
}

// recovery is a Bootstrap's request to begin with the uploaded snapshot.
type recovery struct{ skipHashCheck bool }

// restoreTimeout bounds what a small snapshot takes.
const restoreTimeout = 2 * time.Minute

// restore makes the data directory of a cluster of this member alone, whatever the
// snapshot held: no bump of the revision, no mark of a compaction, no token. Talos does
// it by etcdutl's library in its own process. Here it is the program: a crash of it is
// the machine's, which comes back without the request and with what was written.
func (e *etcdService) restore(ctx context.Context) error {
	n := e.boot.node
	if err := pause(ctx, n.Timing().Restore); err != nil {
		return err
	}
	if err := e.etcdutl(ctx, "error verifying snapshot", "status", n.disk.snapshot()); err != nil {
		return err
	}
	args := []string{
		"restore", n.disk.snapshot(), "--data-dir=" + n.disk.etcd(), "--name=" + n.Name, "--initial-cluster=" + n.Name + "=" + n.PeerURL(),
		"--initial-advertise-peer-urls=" + n.PeerURL(), "--initial-cluster-token=",
	}
	if e.recovery.skipHashCheck {
		args = append(args, "--skip-hash-check")
	}
	if err := e.etcdutl(ctx, "error recovering from the snapshot", args...); err != nil {
		return err
	}
	if err := os.Remove(n.disk.snapshot()); err != nil {
		return fmt.Errorf("error deleting snapshot: %w", err)
	}
	return nil
}

func (e *etcdService) etcdutl(ctx context.Context, failed string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, restoreTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.boot.node.cluster.etcd.Util, append([]string{"snapshot"}, args...)...)
	said, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() == nil && crashed(cmd.ProcessState) {
		e.boot.behind(func(context.Context) error { return e.boot.node.blink(e.boot) })
		<-e.boot.ctx.Done()
	}
	return fmt.Errorf("%s: %w: %s", failed, err, lastLine(string(said)))
}

// panicCode is the exit code of a Go program that panics.
const panicCode = 2

// crashed tells a crash from an error that the program has told of.
func crashed(s *os.ProcessState) bool {
	return s != nil && (s.ExitCode() == panicCode || s.ExitCode() < 0)
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
