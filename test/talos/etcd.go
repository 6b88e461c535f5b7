package talos

import (
	"context"
	"errors"
	"sync"
	"syscall"

	"github.com/quorate/quorate/test/process"
)

// etcdServiceID is the service's name.
const etcdServiceID = "etcd"

// etcdService is the service etcd of a control plane's boot. A bootstrap request
// lives here, in memory: a reboot before it is carried out loses it.
type etcdService struct {
	boot      *boot
	bootstrap bool
	recovery  *recovery // nil: a bootstrap begins with nothing

	mu     sync.Mutex
	server *process.Process // the one that was started last
}

// run prepares a data directory if there is none, and then keeps etcd running for
// ever: an etcd that ends, as a removed member does, is started again.
func (e *etcdService) run(ctx context.Context, s *service) error {
	s.set(statePreparing, "Running pre state")
	start, err := e.prepare(ctx)
	if err != nil {
		return err
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside.Go(func() { e.watchHealth(ctx, s) })
	if start.learner != 0 {
		beside.Go(func() { e.promote(ctx, start.learner) })
	}
	for ctx.Err() == nil {
		if err := e.serve(ctx, s, start); err != nil {
			return err
		}
	}
	return nil
}

// serve runs one process of etcd until it ends or the service is stopped.
func (e *etcdService) serve(ctx context.Context, s *service, start start) error {
	server, err := process.Start(e.boot.node.etcdLog(), e.boot.node.cluster.etcd.Server, e.flags(start)...)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.server = server
	e.mu.Unlock()
	s.set(stateRunning, "Started task etcd")
	select {
	case <-ctx.Done():
		s.set(stateStopping, "Sending SIGTERM to task etcd")
		if err := server.Stop(syscall.SIGTERM); err != nil && !errors.Is(err, process.ErrEnded) {
			return err
		}
	case <-server.Ended():
		s.set(stateWaiting, "Error running Containerd(etcd), going to restart forever: task \"etcd\" failed: exit code 1")
		_ = pause(ctx, e.boot.node.Timing().RestartEvery) // a stop ends the wait, and then the loop
	}
	return nil
}

// kill ends the process at once, if there is one.
func (e *etcdService) kill() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		_ = e.server.Signal(syscall.SIGKILL) // it may have ended already
	}
}

// start is what decides how etcd begins.
type start struct {
	initial string // the founders or members, empty with a data directory
	state   string
	learner uint64 // the ID that the own member was added with
}

func (e *etcdService) flags(s start) []string {
	n := e.boot.node
	peer, client := n.PeerURL(), "https://"+n.etcdAddress(etcdClientPort)
	flags := []string{
		"--name=" + n.Name, "--data-dir=" + n.disk.etcd(),
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--client-cert-auth=true", "--cert-file=" + n.pki.cert, "--key-file=" + n.pki.key, "--trusted-ca-file=" + n.pki.ca,
		"--peer-client-cert-auth=true", "--peer-cert-file=" + n.pki.cert, "--peer-key-file=" + n.pki.key, "--peer-trusted-ca-file=" + n.pki.ca,
	}
	if s.initial != "" {
		flags = append(flags, "--initial-cluster="+s.initial, "--initial-cluster-state="+s.state)
	}
	return flags
}
