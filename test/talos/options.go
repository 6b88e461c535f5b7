package talos

import (
	"io"
	"os"
	"time"

	"github.com/quorate/quorate/test/node"
)

// Options say what cluster to start.
type Options struct {
	// ControlPlanes and Workers are how many nodes of each kind there are: cp-1,
	// cp-2, …, worker-1, …
	ControlPlanes, Workers int

	// Bundle is a Talos secrets bundle as YAML. Empty means a new one, which takes
	// a second or two; another cluster's gives nodes that trust its clients.
	Bundle []byte

	// Kubernetes runs a kube-apiserver on each control plane whose etcd is healthy, and
	// a kubelet and a kube-proxy on each node. An API server costs seconds of a
	// processor and some 300 MB.
	Kubernetes bool

	// WithoutKubePrism lets kubelets and kube-proxies go to the control planes themselves,
	// and so be refused while no API server is there. An informer that is refused goes
	// on from its last revision however long that takes, and after a rewind hears of
	// nothing until it is restarted. KubePrism closes connections meanwhile: client-go
	// then tries ten times, a second apart, before an informer lists anew.
	WithoutKubePrism bool

	// Programs run in the pods of the kubelets. Nil is /bin/sh alone.
	Programs node.Programs

	// Volumes are those of each node that are partitions of their own: VolumeETCD,
	// VolumeCRI, VolumeKubelet, VolumeLog. The others are folders of EPHEMERAL.
	Volumes []string

	// Domain, if set, is the domain of each node's name, and the Kubernetes node
	// is then called by its full name; etcd's member name stays the short one.
	Domain string

	// Dir holds disks and logs. Empty means a temporary folder that Stop removes.
	Dir string

	// Timing takes the place of the quick defaults where it is not zero.
	Timing Timing

	// Progress hears of a build of missing binaries. Nil means standard error.
	Progress io.Writer
}

// Timing is how long a node takes for what it does. Each line says what Talos
// itself takes (internal/app/machined of Talos 1.13.9).
type Timing struct {
	JoinEvery       time.Duration // between tries to join: 3 s
	JoinPatience    time.Duration // then the service etcd is Failed: 30 min
	PromoteEvery    time.Duration // between tries to become a voter: 15 s
	PromotePatience time.Duration // then it stays a learner: 10 min
	HealthEvery     time.Duration // between looks at etcd's health: 20 s
	HealthTimeout   time.Duration // for one look: 15 s
	RestartEvery    time.Duration // before an etcd that ended is started again: 5 s
	LeaveWait       time.Duration // for a leave to know its own member ID: 3 min
	LeaveEvery      time.Duration // between tries of a leave to remove itself: 10 s
	LeavePatience   time.Duration // for all these tries: 5 min
	Restore         time.Duration // between the answer to a Bootstrap that recovers and its restore: no time, but there is some
	Mount           time.Duration // between the first answer of the machine API and /var: seconds
	CRI             time.Duration // between that and the service cri: seconds
	SyncWait        time.Duration // that a Bootstrap waits for the clock to be in sync: 5 s
	PodGrace        time.Duration // for a static pod to end before it is killed: 30 s
	Skew            time.Duration // between the answer to a Reset and its start: small, and different on each node
	Reboot          time.Duration // how long the machine API is away: a minute and more on hardware
}

func (t Timing) withDefaults() Timing {
	for value, quick := range map[*time.Duration]time.Duration{
		&t.JoinEvery: 200 * time.Millisecond, &t.JoinPatience: 30 * time.Minute,
		&t.PromoteEvery: 200 * time.Millisecond, &t.PromotePatience: 10 * time.Minute,
		&t.HealthEvery: 300 * time.Millisecond, &t.HealthTimeout: 2 * time.Second, &t.RestartEvery: 300 * time.Millisecond,
		&t.LeaveWait: 3 * time.Minute, &t.LeaveEvery: 300 * time.Millisecond, &t.LeavePatience: 5 * time.Minute,
		&t.SyncWait: 300 * time.Millisecond, &t.PodGrace: 3 * time.Second, &t.Skew: 50 * time.Millisecond, &t.Reboot: 300 * time.Millisecond,
	} {
		if *value == 0 {
			*value = quick
		}
	}
	return t
}

func (o Options) withDefaults() Options {
	o.Timing = o.Timing.withDefaults()
	if o.Programs == nil {
		o.Programs = hostShell
	}
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	return o
}
