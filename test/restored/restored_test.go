package restored

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKilledContainer: it is started again in the same pod, and what its jobs have kept is
// as it was.
func TestKilledContainer(t *testing.T) {
	pod, machine, _, err := shared.Manager()
	must(t, err)
	kept := filepath.Join(shared.JobPath(), "journal")
	must(t, os.WriteFile(kept, []byte("acted"), 0o600))
	before := restarts(t)
	must(t, shared.KillContainer())
	until(t, "the manager to be started again", func() bool { return restarts(t) > before })
	must(t, shared.ManagerReady(within(t)))
	now, there, _, err := shared.Manager()
	must(t, err)
	if now != pod || there != machine {
		t.Errorf("the manager is %s on %s, was %s on %s", now, there, pod, machine)
	}
	must(t, shared.Reconciles(within(t), "cp-1"))
	if content, err := os.ReadFile(kept); err != nil || string(content) != "acted" {
		t.Errorf("its folder has %q: %v", content, err)
	}
}

// TestDeletedPod: another one takes its place, on the machine that is asked for, and
// nothing of the old one's folder is left.
func TestDeletedPod(t *testing.T) {
	pod, _, _, err := shared.Manager()
	must(t, err)
	old := shared.JobPath()
	must(t, os.WriteFile(filepath.Join(old, "journal"), nil, 0o600))
	shared.MoveManager("cp-2")
	defer func() {
		shared.MoveManager("worker-1")
		must(t, shared.DeletePod(within(t)))
		until(t, "the manager to be on the worker", func() bool { _, on, _, err := shared.Manager(); return err == nil && on == "worker-1" })
		must(t, shared.ManagerReady(within(t)))
	}()
	must(t, shared.DeletePod(within(t)))
	until(t, "another pod", func() bool { now, on, _, err := shared.Manager(); return err == nil && now != pod && on == "cp-2" })
	must(t, shared.ManagerReady(within(t)))
	until(t, "the old folder to be gone", func() bool { _, err := os.Stat(old); return os.IsNotExist(err) })
}

// TestMachineThatReboots: the container begins anew in the same pod.
func TestMachineThatReboots(t *testing.T) {
	pod, machine, _, err := shared.Manager()
	must(t, err)
	must(t, shared.Talos.Node(machine).Reboot(within(t)))
	must(t, shared.Talos.Node(machine).Registered(within(t)))
	until(t, "the manager to run again", shared.ManagerRuns)
	must(t, shared.Reconciles(within(t), machine))
	if now, _, _, err := shared.Manager(); err != nil || now != pod {
		t.Errorf("the manager is %s, was %s: %v", now, pod, err)
	}
}
