package talos

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errOn is the error of a machine that is to be switched on and is.
var errOn = errors.New("the machine is on")

// PowerOn boots a machine that is off. A machine whose STATE was wiped stays in
// maintenance: it is on, and serves nobody.
func (n *Node) PowerOn() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.plugged {
		return fmt.Errorf("switch on %s: %w", n.Name, errOn)
	}
	n.plugged = true
	return n.startLocked()
}

func (n *Node) startLocked() (err error) {
	if n.boot != nil || !n.plugged || !n.disk.configured() {
		return nil
	}
	n.boot, err = n.start()
	return err
}

// PowerOff pulls the plug: nothing is stopped in order, and nothing comes back until
// PowerOn. It waits for what the machine was about to do.
func (n *Node) PowerOff() {
	n.mu.Lock()
	b := n.boot
	n.boot, n.plugged = nil, false
	n.mu.Unlock()
	if b != nil {
		b.crash()
	}
	n.work.Wait()
}

// Reinstall makes a new machine of one that is off, with the same name and address, as
// somebody does who replaces it.
func (n *Node) Reinstall() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.plugged {
		return fmt.Errorf("reinstall %s: %w", n.Name, errOn)
	}
	if err := n.disk.wipe(n.disk.partitions()...); err != nil {
		return err
	}
	return n.disk.install()
}

// destroy ends a machine for good.
func (n *Node) destroy() {
	if b, err := n.current(); err == nil {
		b.pods.kill()
		b.killEtcd()
	}
	n.die()
	n.PowerOff()
}

// Reboot reboots in order, as somebody at the console does, and waits until the
// machine API answers again. The machine reboots even if ctx is done before.
func (n *Node) Reboot(ctx context.Context) error {
	b, err := n.current()
	if err != nil {
		return fmt.Errorf("reboot: %w", err)
	}
	done := make(chan error, 1)
	n.work.Go(func() { done <- n.cycle(b, nil) })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("reboot %s: %w", n.Name, context.Cause(ctx))
	}
}

// cycle ends a boot in order, does something to the disk and boots again. It does
// nothing if the boot is over already. Nothing but the node's end stops it half way.
func (n *Node) cycle(b *boot, between func() error) error {
	if err := n.halt(b); err != nil {
		return err
	}
	if between != nil {
		if err := between(); err != nil {
			return err
		}
	}
	return n.comeBack()
}

// halt ends a boot in order and leaves the machine without one.
func (n *Node) halt(b *boot) error {
	n.mu.Lock()
	if n.boot != b {
		n.mu.Unlock()
		return fmt.Errorf("shut down %s: this boot is over: %w", n.Name, errOff)
	}
	n.boot = nil
	n.mu.Unlock()
	b.shutdown(n.life)
	return nil
}

// comeBack boots again after the time that a reboot takes.
func (n *Node) comeBack() error {
	if err := pause(n.life, n.Timing().Reboot); err != nil {
		return fmt.Errorf("wait for %s to boot: %w", n.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.startLocked()
}

// pause waits, and answers early and with the reason if ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// blink takes the power away for the time of a reboot.
func (n *Node) blink(b *boot) error {
	n.mu.Lock()
	if n.boot != b {
		n.mu.Unlock()
		return nil
	}
	n.boot = nil
	n.mu.Unlock()
	b.crash()
	return n.comeBack()
}

// behind does something that no caller waits for; it ends with the node. It can fail
// only by the node's end: whoever waits for the machine to be back says so.
func (b *boot) behind(do func(ctx context.Context) error) {
	b.node.work.Go(func() { _ = do(b.node.life) })
}

// switchOff ends a boot in order, does something to the disk and stays off.
func (n *Node) switchOff(b *boot, between func() error) error {
	if err := n.halt(b); err != nil {
		return err
	}
	n.mu.Lock()
	n.plugged = false
	n.mu.Unlock()
	if between == nil {
		return nil
	}
	return between()
}
