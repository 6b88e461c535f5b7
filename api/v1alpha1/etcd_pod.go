package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// PodSettings is what the members' pods have beyond etcd. A change is rolled out
// one pod at a time, each only while the cluster keeps its quorum.
type PodSettings struct {
	// labels are added to the pods; the controller's own labels win.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// annotations are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
	// resources are the etcd container's requests and limits.
	// +optional
	Resources *PodResources `json:"resources,omitempty"`
	// nodeSelector is the set of labels that a node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`
	// tolerations are the taints that the pods put up with, at most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// spread says how members are kept apart: Node (at most one member a node)
	// or Zone (that, and even over zones); Node when it is left out.
	// +optional
	// +kubebuilder:default=Node
	Spread Spread `json:"spread,omitempty"`
	// priorityClassName is the pods' priority class.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// serviceAccountName is what the pods run as; one made by the controller,
	// without any rights, when it is left out.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// imagePullSecrets are the Secrets that images are pulled with, at most 8.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []LocalRef `json:"imagePullSecrets,omitempty"`
	// terminationGracePeriodSeconds is how long etcd may take to stop, in
	// seconds; 1 to 600, 30 when it is left out.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// AnnotationValue is the value of an annotation.
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string

// Spread is how members are kept apart.
// +kubebuilder:validation:Enum=Node;Zone
type Spread string

const (
	// SpreadNode keeps members on different nodes.
	SpreadNode Spread = "Node"
	// SpreadZone keeps them on different nodes and even over zones.
	SpreadZone Spread = "Zone"
)

// PodResources are a container's requests and limits.
type PodResources struct {
	// requests are what is set aside for the container.
	// +optional
	Requests *ComputeResources `json:"requests,omitempty"`
	// limits are what the container may use at most.
	// +optional
	Limits *ComputeResources `json:"limits,omitempty"`
}

// ComputeResources are amounts of processor and memory.
type ComputeResources struct {
	// cpu is in cores, e.g. 500m or 2.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// memory is in bytes, e.g. 512Mi.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	Memory *resource.Quantity `json:"memory,omitempty"`
}

// Toleration is a taint that the pods put up with; its fields mean what they do
// in a pod.
type Toleration struct {
	// key is the taint's key; all keys when it is empty, with operator Exists.
	// +optional
	// +kubebuilder:validation:MaxLength=316
	Key string `json:"key,omitempty"`
	// operator is Exists or Equal; Equal when it is left out.
	// +optional
	// +kubebuilder:validation:Enum=Exists;Equal
	Operator string `json:"operator,omitempty"`
	// value is the taint's value for Equal.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`
	// effect is the taint's effect; every effect when it is left out.
	// +optional
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect string `json:"effect,omitempty"`
	// tolerationSeconds is how long a NoExecute taint is put up with, in seconds;
	// for ever when it is left out.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}
