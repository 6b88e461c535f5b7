package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// Programs answers the host's program for a container, by its image and the command
// that its pod gives (empty: the image's own). An error shows as a failed pull.
type Programs func(image string, command []string) (binary string, err error)

// Options say which nodes to play.
type Options struct {
	// Config is an administrator's access.
	Config *rest.Config
	// Dir holds volumes and logs. It is kept.
	Dir string
	// Nodes are their names; node-0 to node-8 if there are none.
	Nodes []string
	// Programs run in the pods: see Wrapped.
	Programs Programs
	// Kubelet, if set, plays the kubelet of the one node in Nodes and nothing else: no
	// scheduler, no Services, no names.
	Kubelet *Kubelet
	// ProbeEvery, if above 0, takes the place of longer periods of probes.
	ProbeEvery time.Duration
}

// Kubelet is one that others schedule for. It takes over a Node that is there already,
// hears of that node's pods alone, and reports the node's status with each heartbeat.
type Kubelet struct {
	// Address is the node's InternalIP.
	Address string
	// Labels are those that the Node gets when it is made.
	Labels map[string]string
	// Info is part of the Node's status.
	Info corev1.NodeSystemInfo
}

// defaultNodes is as many as the largest Etcd has members.
const defaultNodes = 9

// ErrOptions is a field of Options that is missing or cannot be used.
var ErrOptions = errors.New("options of the nodes")

func (o Options) complete() (Options, error) {
	if o.Config == nil || o.Programs == nil || o.Dir == "" {
		return o, fmt.Errorf("%w: Config, Programs and Dir are needed", ErrOptions)
	}
	if o.Kubelet != nil && len(o.Nodes) != 1 {
		return o, fmt.Errorf("%w: a Kubelet is that of one node, and there are %d", ErrOptions, len(o.Nodes))
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	o.Dir = dir
	o.Config = rest.CopyConfig(o.Config)
	o.Config.QPS = -1
	if len(o.Nodes) == 0 {
		for i := range defaultNodes {
			o.Nodes = append(o.Nodes, fmt.Sprintf("node-%d", i))
		}
	}
	return o, nil
}
