package restoring

import (
	"cmp"
	"strings"
)

// Recovery is what finishes a restore from any machine that reaches the nodes and the
// store, without Kubernetes. What is not known is shown in capitals.
type Recovery struct {
	// Store is s3://bucket/prefix or a folder; Endpoint and Region are the store's,
	// where they are not AWS's own.
	Store, Endpoint, Region string
	Snapshot                string
	// Nodes are addresses of the machine API of the control planes.
	Nodes []string
}

// Command is the command line.
func (r Recovery) Command() string {
	var b strings.Builder
	b.WriteString("quorate restore --recover-cluster --bundle BUNDLE.yaml --store " + cmp.Or(r.Store, "s3://BUCKET/PREFIX"))
	if r.Endpoint != "" {
		b.WriteString(" --s3-endpoint " + r.Endpoint)
	}
	if r.Region != "" {
		b.WriteString(" --s3-region " + r.Region)
	}
	b.WriteString(" --snapshot " + cmp.Or(r.Snapshot, "SNAPSHOT"))
	if len(r.Nodes) == 0 {
		b.WriteString(" --node-endpoint ADDRESS")
	}
	for _, n := range r.Nodes {
		b.WriteString(" --node-endpoint " + n)
	}
	return b.String()
}
