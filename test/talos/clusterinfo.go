package talos

import "github.com/siderolabs/talos/pkg/machinery/resources/cluster"

// info names the Talos cluster: the ID is the secrets bundle's.
func (n *Node) info() *cluster.Info {
	r := cluster.NewInfo()
	r.TypedSpec().ClusterID = n.cluster.authority.bundle.Cluster.ID
	r.TypedSpec().ClusterName = clusterName
	return r
}

// clusterName is what the machine configuration calls every cluster here.
const clusterName = "talos"
