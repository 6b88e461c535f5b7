package v1alpha1

// EtcdConfig is how etcd is set up.
type EtcdConfig struct {
	// version is the etcd release without a leading v, from 3.5 to 3.7, e.g.
	// 3.6.14. The newest patch that the controller knows when neither version
	// nor image is given.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^3\.[5-7]\.[0-9]+$`
	Version string `json:"version,omitempty"`
	// image is the full reference of a container image with etcd in it. It wins
	// over version, which then only says what is in the image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// clientPort is the port for clients; 2379 when it is left out.
	// +optional
	// +kubebuilder:default=2379
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ClientPort int32 `json:"clientPort,omitempty"`
	// peerPort is the port between members; 2380 when it is left out. It stays
	// once the cluster has formed.
	// +optional
	// +kubebuilder:default=2380
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	PeerPort int32 `json:"peerPort,omitempty"`
	// clientTLS secures the client port. Plain HTTP when it is left out.
	// +optional
	ClientTLS *ClientTLS `json:"clientTLS,omitempty"`
	// peerTLS secures the traffic between members. Plain HTTP when it is left out.
	// It stays on or off once the cluster has formed; its Secret may change.
	// +optional
	PeerTLS *PeerTLS `json:"peerTLS,omitempty"`
	// quotaBackendBytes is the size at which etcd raises its NOSPACE alarm, in
	// bytes; 64 MiB to 16 GiB. etcd's own default when it is left out.
	// +optional
	// +kubebuilder:validation:Minimum=67108864
	// +kubebuilder:validation:Maximum=17179869184
	QuotaBackendBytes *int64 `json:"quotaBackendBytes,omitempty"`
	// bootstrapWithExistingCluster makes this Etcd join a cluster that exists
	// instead of forming its own. It is set at creation. Taking members off its
	// list later, or unsetting it, removes those source members from the shared
	// cluster: that is how a migration ends.
	// +optional
	BootstrapWithExistingCluster *BootstrapWithExistingCluster `json:"bootstrapWithExistingCluster,omitempty"`
}

// ClientTLS is the TLS of the client port.
type ClientTLS struct {
	// serverSecretRef names a Secret with tls.crt and tls.key that members serve
	// with, and with ca.crt that clients' certificates are checked against.
	// +required
	ServerSecretRef LocalRef `json:"serverSecretRef"`
	// clientSecretRef names a Secret with tls.crt, tls.key and ca.crt that the
	// controller shows to the members.
	// +required
	ClientSecretRef LocalRef `json:"clientSecretRef"`
}

// PeerTLS is the TLS between members.
type PeerTLS struct {
	// secretRef names a Secret with tls.crt, tls.key and ca.crt that members use
	// as server and as client towards each other.
	// +required
	SecretRef LocalRef `json:"secretRef"`
}

// BootstrapWithExistingCluster is the cluster that is joined, the source.
type BootstrapWithExistingCluster struct {
	// members lists the source's members, 1 to 10. Their order means nothing.
	// The list is frozen until every member of this Etcd has joined.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Members []BootstrapMember `json:"members"`
	// clientEndpoints are the source's client URLs, 1 to 10, e.g.
	// https://etcd-0.example.com:2379.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	ClientEndpoints []URL `json:"clientEndpoints"`
}

// BootstrapMember is one member of the source cluster.
type BootstrapMember struct {
	// name is the member's etcd name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// peerURLs are the member's peer URLs, 1 to 5, e.g.
	// https://etcd-0.example.com:2380.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	PeerURLs []URL `json:"peerURLs"`
}
