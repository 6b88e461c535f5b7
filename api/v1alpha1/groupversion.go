// Package v1alpha1 holds Quorate's API: etcd clusters run as a StatefulSet
// (Etcd), and the etcd of Talos Linux control planes (TalosCluster,
// TalosMachine, TalosEtcdBackup, TalosOperation).
//
// The comments on kinds and fields are what `kubectl explain` prints. Validation
// that compares fields or versions of an object is not written here: it lives in
// the rule files and is generated into the CRDs from there.
//
// +kubebuilder:object:generate=true
// +groupName=quorate.dev
// +versionName=v1alpha1
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of every kind here.
const Group = "quorate.dev"

// GroupVersion is this package's group and version.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha1"}

// Plural resource names, as they appear in paths, rules and RBAC.
const (
	ResourceEtcds            = "etcds"
	ResourceTalosClusters    = "talosclusters"
	ResourceTalosMachines    = "talosmachines"
	ResourceTalosEtcdBackups = "talosetcdbackups"
	ResourceTalosOperations  = "talosoperations"
)
