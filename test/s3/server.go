package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
	"github.com/quorate/quorate/test/process"
)

const (
	// Bucket is there from the start.
	Bucket = "backups"
	// Region is the server's.
	Region = "us-east-1"
	// AccessKeyID and SecretAccessKey are let in.
	AccessKeyID     = "test-access"
	SecretAccessKey = "test-secret"

	port         = "7070"
	buildTimeout = 30 * time.Minute
	startTimeout = 30 * time.Second
	tryEvery     = 20 * time.Millisecond
)

// Binary finds the server's program, which is built if it is missing.
func Binary(ctx context.Context, progress io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	module, err := cluster.GoCommand(ctx, io.Discard, "env", "GOMOD")
	if err != nil {
		return "", fmt.Errorf("find the object store: %w", err)
	}
	builder := filepath.Join(filepath.Dir(module), "tools", "build")
	dir, err := cluster.GoCommand(ctx, progress, "-C", builder, "run", ".", "--s3")
	if err != nil {
		return "", fmt.Errorf("find or build the object store (make tools does it alone): %w", err)
	}
	return filepath.Join(strings.TrimSpace(dir), "versitygw"), nil
}

// Server is an object store that can be stopped and started again with what it has.
type Server struct {
	// Endpoint is its URL.
	Endpoint string
	// Buckets is the folder that has one for each bucket.
	Buckets string

	binary, address, log string
	running              *process.Process
}

// Start starts a server with an empty bucket, its files under dir, and waits until it
// listens.
func Start(ctx context.Context, binary, dir string) (*Server, error) {
	network, err := etcdcluster.FreeNetwork()
	if err != nil {
		return nil, err
	}
	s := &Server{binary: binary, address: network.Address(0, port), Buckets: filepath.Join(dir, "buckets"), log: filepath.Join(dir, "versitygw.log")}
	s.Endpoint = "http://" + s.address
	if err := os.MkdirAll(filepath.Join(s.Buckets, Bucket), 0o755); err != nil {
		return nil, fmt.Errorf("make a bucket: %w", err)
	}
	return s, s.Restart(ctx)
}

// Restart starts the server after Stop, where it was.
func (s *Server) Restart(ctx context.Context) error {
	p, err := process.Start(s.log, s.binary, "--access", AccessKeyID, "--secret", SecretAccessKey, "--region", Region,
		"--port", s.address, "--quiet", "posix", s.Buckets)
	if err != nil {
		return err
	}
	s.running = p
	if err := s.listens(ctx); err != nil {
		return errors.Join(err, s.Stop())
	}
	return nil
}

func (s *Server) listens(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	every := time.NewTicker(tryEvery)
	defer every.Stop()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-every.C:
		case <-s.running.Ended():
			return fmt.Errorf("start the object store (log %s): %w", s.log, s.running.Alive())
		case <-ctx.Done():
			return fmt.Errorf("start the object store (log %s): %s does not listen: %w", s.log, s.address, ctx.Err())
		}
	}
}

// Stop kills the server, as a machine dies.
func (s *Server) Stop() error { return s.running.Stop(syscall.SIGKILL) }

// Options are those of a client, in a folder of the bucket.
func (s *Server) Options(prefix string) store.Options {
	return store.Options{
		Endpoint: s.Endpoint, Region: Region, Bucket: Bucket, Prefix: prefix,
		AccessKeyID: AccessKeyID, SecretAccessKey: SecretAccessKey,
	}
}
