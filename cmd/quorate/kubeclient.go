package main

import (
	"fmt"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/api/v1alpha1"
)

// newKube makes a client of the kinds that restores and operations are about. It asks no API server which
// kinds it has: during a restore none may answer.
func newKube(config *rest.Config) (client.Client, error) {
	log.SetLogger(logr.Discard()) // without one the library complains to the person after half a minute
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for scope, kinds := range map[meta.RESTScope][]schema.GroupVersionKind{
		meta.RESTScopeRoot: {
			corev1.SchemeGroupVersion.WithKind("Node"),
			authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"), authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"),
		},
		meta.RESTScopeNamespace: {
			corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("Secret"), coordinationv1.SchemeGroupVersion.WithKind("Lease"),
			v1alpha1.GroupVersion.WithKind("TalosCluster"), v1alpha1.GroupVersion.WithKind("TalosMachine"),
			v1alpha1.GroupVersion.WithKind("TalosEtcdBackup"), v1alpha1.GroupVersion.WithKind("TalosOperation"), v1alpha1.GroupVersion.WithKind("Etcd"),
		},
	} {
		for _, kind := range kinds {
			mapper.Add(kind, scope)
		}
	}
	kube, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return kube, nil
}
