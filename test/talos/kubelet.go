package talos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/node"
)

// kubeletServiceID is the service's name.
const kubeletServiceID = "kubelet"

// kubelet is the one of a boot. The pods that it has started outlive a restart of the
// service, as containers do, and end with the boot.
type kubelet struct {
	boot *boot
	work sync.Mutex // one start or end at a time
	over bool       // the boot is

	mu    sync.Mutex
	plays *node.Kubelets // nil before the API server was reached once
}

const (
	// registerTimeout bounds one try to reach an API server and to list all there is.
	registerTimeout = 20 * time.Second
	registerEvery   = 300 * time.Millisecond
)

// run is the service: it runs from the start, and has an API server when one is there.
func (k *kubelet) run(ctx context.Context, s *service) error {
	s.set(stateRunning, "Started task kubelet")
	s.setHealth(true, "Health check successful")
	for k.begin(ctx) != nil {
		if pause(ctx, registerEvery) != nil {
			break
		}
	}
	<-ctx.Done()
	s.set(stateStopping, "Sending SIGTERM to task kubelet")
	k.rest()
	return nil
}

// begin starts the kubelet of this boot, or starts it again.
func (k *kubelet) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	k.work.Lock()
	defer k.work.Unlock()
	if k.over {
		return errOff
	}
	if plays := k.current(); plays != nil {
		return plays.Restart(ctx)
	}
	options, err := k.options()
	if err != nil {
		return err
	}
	plays, err := node.Start(ctx, options)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.plays = plays
	return err
}

// options keep the pods' files in /var/lib/kubelet: a wipe of it loses them.
func (k *kubelet) options() (node.Options, error) {
	n := k.boot.node
	config, err := n.kubeConfig()
	if err != nil {
		return node.Options{}, err
	}
	labels := map[string]string{}
	if !n.worker {
		labels[constants.LabelNodeRoleControlPlane] = ""
	}
	return node.Options{
		Config: config, Nodes: []string{n.NodeName()}, Programs: n.cluster.options.Programs,
		Dir: n.disk.at("/var/lib/kubelet"),
		Kubelet: &node.Kubelet{Address: n.IP, Labels: labels, Info: corev1.NodeSystemInfo{
			BootID: k.boot.id, OSImage: "Talos (" + talosVersion + ")", OperatingSystem: "linux",
		}},
	}, nil
}

// rest is a kubelet that has stopped: nobody acts on what the API server says.
func (k *kubelet) rest() {
	if plays := k.current(); plays != nil {
		plays.Silence(k.boot.node.NodeName())
	}
}

// end kills all that runs in pods, for good.
func (k *kubelet) end() {
	k.work.Lock()
	defer k.work.Unlock()
	k.over = true
	if plays := k.current(); plays != nil {
		k.boot.node.complain(plays.Stop())
	}
}

// current answers nil before the kubelet has reached an API server.
func (k *kubelet) current() *node.Kubelets {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plays
}

// errNoKubelet is the error of a node whose kubelet plays no pods just now.
var errNoKubelet = errors.New("the kubelet has reached no API server in this boot")

// Pods are what the node's kubelet runs in this boot: where tests look into pods, kill
// their containers or cut the kubelet off (node.Kubelets.Silence).
func (n *Node) Pods() (*node.Kubelets, error) {
	b, err := n.current()
	if err != nil {
		return nil, err
	}
	if b.kubelet == nil || b.kubelet.current() == nil {
		return nil, fmt.Errorf("look at the pods of %s: %w", n.Name, errNoKubelet)
	}
	return b.kubelet.current(), nil
}

// Registered waits until some API server has a Node that the kubelet of this boot has
// reported as ready.
func (n *Node) Registered(ctx context.Context) error {
	client, err := n.cluster.client()
	if err != nil {
		return err
	}
	return cluster.Until(ctx, "the Node of "+n.Name, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, registerTimeout)
		defer cancel()
		found, err := client.CoreV1().Nodes().Get(ctx, n.NodeName(), metav1.GetOptions{})
		if err == nil && !readySince(found, n.BootID()) {
			err = fmt.Errorf("its conditions are %v in boot %s, and the machine's boot is %s", found.Status.Conditions, found.Status.NodeInfo.BootID, n.BootID())
		}
		return err
	})
}

func readySince(found *corev1.Node, boot string) bool {
	return found.Status.NodeInfo.BootID == boot && slices.ContainsFunc(found.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// hostShell runs /bin/sh in pods, and nothing else.
func hostShell(image string, command []string) (string, error) {
	if len(command) > 0 && command[0] == "/bin/sh" {
		return command[0], nil
	}
	return "", fmt.Errorf("pull %s: %w", image, errNoProgram)
}

// errNoProgram is the error of an image that stands for no program here.
var errNoProgram = errors.New("no program of this machine stands for the image")
