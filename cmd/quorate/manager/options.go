package manager

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/certs"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/reconcilers/cluster"
	"github.com/quorate/quorate/reconcilers/etcd"
	"github.com/quorate/quorate/webhooks"
)

// Names of the objects that the manager keeps, unless it is told others.
const (
	DefaultNamespace      = "quorate-system"
	DefaultServiceAccount = "quorate-controller"
	DefaultService        = "quorate-webhook"
	DefaultConfiguration  = "quorate-gate"
	DefaultSecret         = "quorate-webhook-ca"
)

// Options are what one replica is started with.
type Options struct {
	// Config reaches the API server, as the controller's own ServiceAccount.
	Config *rest.Config
	// Namespace and ServiceAccount are the controller's; together they give the
	// user name that the gate leaves out.
	Namespace, ServiceAccount string
	// Service, Configuration and Secret name the webhook's objects.
	Service, Configuration, Secret string
	// WebhookAddress, HealthAddress and MetricsAddress are host:port.
	WebhookAddress, HealthAddress, MetricsAddress string
	// DNSNames and IPs are served for besides the Service's own names.
	DNSNames []string
	IPs      []net.IP
	// DrainDelay is how long the webhook is served after the order to stop; 0 stops
	// at once, which loses requests unless nobody calls any more.
	DrainDelay time.Duration
	// AgentImage is the image with quorate-guard in it that members' pods run, and
	// EtcdImage the one with etcd, where {version} stands for the release.
	AgentImage, EtcdImage string
	// LearnerGrace is how long a learner whose pod cannot run may hold up the others
	// that are to join; it is removed after that. Above 0.
	LearnerGrace time.Duration
	// UnknownMemberGrace is how long an etcd member that no TalosMachine explains may be
	// listed before it is told of, or removed once more. Above 0.
	UnknownMemberGrace time.Duration
	// Version is this program's, for what is stored beside a snapshot.
	Version string
	// RestoreDir is where live restores keep their journal and the snapshot in plain: it
	// must outlive the container, and needs not outlive the pod. RestoreKeysDir is for
	// their keys: in memory.
	RestoreDir, RestoreKeysDir string
	// RestoreHold is how long a process may go on with a restore without renewing its hold
	// of it, and so how long another one waits for a process that is gone. At least
	// MinRestoreHold.
	RestoreHold time.Duration
	// NodeName is the Node that this replica runs on; empty outside of the cluster.
	NodeName string
	// GateOnly leaves the controllers out.
	GateOnly bool
	// Certificates holds the lifetimes.
	Certificates certs.Policy
	Log          logr.Logger
}

// MinRestoreHold leaves the owner of a restore time for a store that is slow.
const MinRestoreHold = 30 * time.Second

// ErrOptions marks options that a manager cannot run with.
var ErrOptions = errors.New("manager options")

// Defaults are the options of a replica in its own Deployment.
func Defaults() Options {
	return Options{
		Namespace: DefaultNamespace, ServiceAccount: DefaultServiceAccount,
		Service: DefaultService, Configuration: DefaultConfiguration, Secret: DefaultSecret,
		WebhookAddress: webhooks.DefaultAddress, HealthAddress: ":8081", MetricsAddress: ":8080",
		AgentImage: "quorate:latest", EtcdImage: "etcd:v{version}", LearnerGrace: etcd.DefaultLearnerGrace,
		UnknownMemberGrace: cluster.DefaultGrace,
		RestoreDir:         filepath.Join(os.TempDir(), "quorate-restores"), RestoreKeysDir: filepath.Join(os.TempDir(), "quorate-restore-keys"),
		RestoreHold: restore.DefaultHold,
		DrainDelay:  webhooks.DefaultDrainDelay, Certificates: certs.DefaultPolicy(),
	}
}

// Validate names the first option that is missing.
func (o Options) Validate() error {
	for _, required := range []struct{ name, value string }{
		{"namespace", o.Namespace}, {"service account", o.ServiceAccount}, {"service", o.Service},
		{"webhook configuration", o.Configuration}, {"certificate secret", o.Secret},
		{"webhook address", o.WebhookAddress}, {"health address", o.HealthAddress}, {"metrics address", o.MetricsAddress},
		{"agent image", o.AgentImage}, {"etcd image", o.EtcdImage},
		{"folder for restores", o.RestoreDir}, {"folder for the keys of restores", o.RestoreKeysDir},
	} {
		if required.value == "" {
			return fmt.Errorf("%w: no %s", ErrOptions, required.name)
		}
	}
	if o.LearnerGrace <= 0 {
		return fmt.Errorf("%w: learner grace %s is not above zero", ErrOptions, o.LearnerGrace)
	}
	if o.UnknownMemberGrace <= 0 {
		return fmt.Errorf("%w: unknown member grace %s is not above zero", ErrOptions, o.UnknownMemberGrace)
	}
	if o.RestoreHold < MinRestoreHold {
		return fmt.Errorf("%w: restore hold %s is below %s", ErrOptions, o.RestoreHold, MinRestoreHold)
	}
	if o.DrainDelay < 0 {
		return fmt.Errorf("%w: drain delay %s is below zero", ErrOptions, o.DrainDelay)
	}
	return nil
}

// Identity is the controller's exact user name.
func (o Options) Identity() string {
	return "system:serviceaccount:" + o.Namespace + ":" + o.ServiceAccount
}

// names are what the serving certificate is for; the first is the one that the
// API server calls a Service by.
func (o Options) names() certs.Names {
	service := o.Service + "." + o.Namespace + ".svc"
	return certs.Names{DNS: append([]string{service, service + ".cluster.local"}, o.DNSNames...), IPs: o.IPs}
}
