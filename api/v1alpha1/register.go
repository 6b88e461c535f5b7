package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds the five kinds and their lists to a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Etcd{}, &EtcdList{},
		&TalosCluster{}, &TalosClusterList{},
		&TalosMachine{}, &TalosMachineList{},
		&TalosEtcdBackup{}, &TalosEtcdBackupList{},
		&TalosOperation{}, &TalosOperationList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
