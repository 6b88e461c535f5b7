package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// allowCommand is the argument that makes this program the webhook that allows
// everything: a process of its own, as the gate is one.
const allowCommand = "allow-everything"

// The Service that leads to it.
const (
	allowNamespace = "quorate-system"
	allowService   = "allow-everything"
)

// asked is the warning by which a dry run shows that this webhook was asked.
const asked = "the webhook that allows everything was asked"

// endpoint is where the webhook listens, and by which certificate it is known.
type endpoint struct {
	Address string `json:"address"`
	CA      []byte `json:"ca"`
}

// allowEverything serves until its input ends, which it does with the starter,
// and prints its endpoint first.
func allowEverything(in io.Reader, out io.Writer) error {
	cert, key, err := certutil.GenerateSelfSignedCertKey(allowService+"."+allowNamespace+".svc", nil, nil)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{
		Handler: &admission.Webhook{Handler: admission.HandlerFunc(allowed)}, ReadHeaderTimeout: time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}},
	}
	if err := json.NewEncoder(out).Encode(endpoint{listener.Addr().String(), cert}); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = server.Close()
	}()
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func allowed(_ context.Context, r admission.Request) admission.Response {
	response := admission.Allowed("")
	if r.DryRun != nil && *r.DryRun {
		response = response.WithWarnings(asked)
	}
	return response
}

// allowProcess is the webhook as its starter sees it.
type allowProcess struct {
	endpoint
	cmd  *exec.Cmd
	pipe io.Closer
	log  *os.File
}

// startAllow runs this program again as the webhook, its log beside the others.
func startAllow(ctx context.Context, dir string) (*allowProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	p := &allowProcess{cmd: exec.CommandContext(ctx, self, allowCommand)}
	if p.log, err = os.Create(filepath.Join(dir, "logs", allowCommand+".log")); err != nil {
		return nil, fmt.Errorf("open a log: %w", err)
	}
	p.cmd.Stderr = p.log
	// A group of its own: an interrupt at the terminal must not reach it first.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the webhook that allows everything: %w", err), p.log.Close())
	}
	return p, nil
}

func (p *allowProcess) start() error {
	pipe, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	p.pipe = pipe
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if err := json.NewDecoder(bufio.NewReader(stdout)).Decode(&p.endpoint); err != nil {
		return errors.Join(err, pipe.Close(), p.cmd.Wait())
	}
	return nil
}

func (p *allowProcess) stop() error {
	if err := errors.Join(p.pipe.Close(), p.cmd.Wait(), p.log.Close()); err != nil {
		return fmt.Errorf("stop the webhook that allows everything: %w", err)
	}
	return nil
}
