package main

import (
	"log/slog"
	"net"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/quorate/quorate/certs"
	"github.com/quorate/quorate/cmd/quorate/manager"
)

const managerHelp = `Run one replica: the webhook, its certificates, the controllers, probes and metrics.
Every replica serves; one at a time runs the controllers. It stops on SIGTERM after it has drained.

In a pod it finds the API server by itself, and its namespace, ServiceAccount
and Node in POD_NAMESPACE, POD_SERVICE_ACCOUNT and NODE_NAME.`

func newManagerCommand() *cobra.Command {
	o, kubeconfig, verbose := manager.Defaults(), "", false
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Run the gate",
		Long:  managerHelp,
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := managerConfig(kubeconfig)
			if err != nil {
				return err
			}
			o.Config, o.Log = config, managerLog(verbose)
			o.Version = buildVersion(version, debug.ReadBuildInfo)
			return manager.Run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "path of a kubeconfig; the pod's own account when empty")
	flags.BoolVar(&verbose, "verbose", false, "log details")
	managerFlags(flags, &o)
	return cmd
}

func managerFlags(flags *pflag.FlagSet, o *manager.Options) {
	flags.StringVar(&o.Namespace, "namespace", fromEnv("POD_NAMESPACE", o.Namespace), "namespace of the controller")
	flags.StringVar(&o.ServiceAccount, "service-account", fromEnv("POD_SERVICE_ACCOUNT", o.ServiceAccount), "ServiceAccount of the controller, whom the gate leaves out")
	flags.StringVar(&o.Service, "service-name", o.Service, "Service in front of the webhook")
	flags.StringVar(&o.Configuration, "webhook-config-name", o.Configuration, "ValidatingWebhookConfiguration whose CA bundle is kept")
	flags.StringVar(&o.Secret, "certificate-secret", o.Secret, "Secret with the certificate authority")
	flags.StringVar(&o.WebhookAddress, "webhook-bind-address", o.WebhookAddress, "host:port of the webhook")
	flags.StringVar(&o.HealthAddress, "health-bind-address", o.HealthAddress, "host:port of /healthz and /readyz")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "host:port of /metrics")
	flags.StringSliceVar(&o.DNSNames, "dns-names", nil, "further DNS names of the serving certificate")
	flags.IPSliceVar(&o.IPs, "ip-addresses", []net.IP{}, "IP addresses of the serving certificate")
	flags.DurationVar(&o.DrainDelay, "drain-delay", o.DrainDelay, "how long to serve on after the order to stop; 0 stops at once")
	flags.StringVar(&o.AgentImage, "agent-image", fromEnv("QUORATE_IMAGE", o.AgentImage), "image with quorate-guard in it, for members' pods")
	flags.StringVar(&o.EtcdImage, "etcd-image", fromEnv("QUORATE_ETCD_IMAGE", o.EtcdImage), "image with etcd in it; {version} stands for the release")
	flags.DurationVar(&o.LearnerGrace, "learner-grace", o.LearnerGrace, "how long a new member whose pod cannot run may hold up the others that are to join")
	flags.DurationVar(&o.UnknownMemberGrace, "unknown-member-grace", o.UnknownMemberGrace, "how long an etcd member that no TalosMachine explains may be listed before it is told of, or removed once more if it was removed before")
	flags.StringVar(&o.RestoreDir, "restore-dir", o.RestoreDir, "folder for the journals and snapshots of live restores; it must outlive the container")
	flags.StringVar(&o.RestoreKeysDir, "restore-keys-dir", o.RestoreKeysDir, "folder for the keys of live restores; in memory, and it must outlive the container")
	flags.DurationVar(&o.RestoreHold, "restore-hold", o.RestoreHold, "how long a process may go on with a live restore without renewing its hold of it, at least 30s; as long may another one wait for a process that is gone")
	flags.StringVar(&o.NodeName, "node-name", fromEnv("NODE_NAME", o.NodeName), "Node that this replica runs on; empty outside of the cluster")
	flags.BoolVar(&o.GateOnly, "gate-only", false, "run the gate without the controllers")
	certificateFlags(flags, &o.Certificates)
}

func certificateFlags(flags *pflag.FlagSet, p *certs.Policy) {
	flags.DurationVar(&p.CALifetime, "certificate-ca-lifetime", p.CALifetime, "how long an authority is valid; it is replaced after two thirds of it")
	flags.DurationVar(&p.LeafLifetime, "certificate-leaf-lifetime", p.LeafLifetime, "how long a serving certificate is valid; it is renewed after two thirds of it")
	flags.DurationVar(&p.Skew, "certificate-skew", p.Skew, "how far clocks may differ, at least twice the time limit of a call (10s)")
	flags.DurationVar(&p.Grace, "certificate-grace", p.Grace, "how long a new authority is trusted before a leaf of it is served")
	flags.DurationVar(&p.Poll, "certificate-poll", p.Poll, "how often the authority and the webhook configuration are read")
}

func fromEnv(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// managerConfig reads the kubeconfig, or the pod's own account.
func managerConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, usageError(err)
	}
	config.Timeout = requestTimeout
	return config, nil
}

// managerLog is the one logger of the process, client-go's lines included.
func managerLog(verbose bool) logr.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	log := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetLogger(log)
	return log
}
