package cluster

import (
	"io"
	"os"
)

// VersionVariable chooses the Kubernetes minor, such as 1.34, for every control
// plane whose Options leave it open.
const VersionVariable = "QUORATE_TEST_KUBERNETES"

// Options say what control plane to start. The zero value is etcd and
// kube-apiserver of the newest version that the repository pins.
type Options struct {
	// Version is a Kubernetes minor, such as 1.34. Empty means the one in
	// QUORATE_TEST_KUBERNETES, else the newest.
	Version string

	// ControllerManager also runs kube-controller-manager. Without it no
	// namespace is ever finalized, no StatefulSet makes pods and no namespace
	// gets its default ServiceAccount.
	ControllerManager bool

	// APIServerFlags are further flags of kube-apiserver by name, without the
	// dashes. Each takes the place of a default of the same name.
	APIServerFlags map[string][]string

	// AuditPolicy is an audit.k8s.io/v1 Policy as YAML. If set, the API server
	// writes its events as lines of JSON to Cluster.AuditLog.
	AuditPolicy string

	// Dir holds certificates, kubeconfig files, data and logs. Empty means a
	// temporary folder that Stop removes; a folder given here is kept.
	Dir string

	// Progress hears of a build of missing binaries. Nil means standard error.
	Progress io.Writer
}

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = os.Getenv(VersionVariable)
	}
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	return o
}
