package webhooks

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func crd(kind, plural string, sub *apiextensionsv1.CustomResourceSubresources) *apiextensionsv1.CustomResourceDefinition {
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.Name = plural + ".quorate.dev"
	c.Spec.Group, c.Spec.Scope = "quorate.dev", apiextensionsv1.NamespaceScoped
	c.Spec.Names.Kind, c.Spec.Names.Plural = kind, plural
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1", Served: true, Storage: true, Subresources: sub}}
	return c
}

func crds() []*apiextensionsv1.CustomResourceDefinition {
	status := &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	scale := status.DeepCopy()
	scale.Scale = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}
	return []*apiextensionsv1.CustomResourceDefinition{
		crd("Etcd", "etcds", scale), crd("TalosCluster", "talosclusters", status), crd("TalosMachine", "talosmachines", status),
		crd("TalosEtcdBackup", "talosetcdbackups", status), crd("TalosOperation", "talosoperations", status),
	}
}

func knownResources(t testing.TB) Resources {
	t.Helper()
	known, err := ResourcesOf(crds())
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// etcd is an Etcd object of the size.
func etcd(replicas int) string {
	return fmt.Sprintf(`{"apiVersion":"quorate.dev/v1alpha1","kind":"Etcd","metadata":{"name":"a","namespace":"ns","resourceVersion":"7"},"spec":{"replicas":%d}}`, replicas)
}

// scaleOf is a Scale object as the API server writes it.
func scaleOf(spec string) string {
	return `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"ns","resourceVersion":"7"},"spec":` + spec + `,"status":{"replicas":3}}`
}

// fields are a request's, each as JSON.
type fields map[string]string

// reviewOf is a review of an update that changes nothing, with the fields
// replaced.
func reviewOf(f fields) string {
	all := fields{
		"uid": `"u-1"`, "resource": `{"group":"quorate.dev","version":"v1alpha1","resource":"etcds"}`,
		"name": `"a"`, "namespace": `"ns"`, "operation": `"UPDATE"`, "userInfo": `{"username":"alice","groups":["dev"]}`,
		"object": etcd(3), "oldObject": etcd(3), "dryRun": "false",
	}
	maps.Copy(all, f)
	var b bytes.Buffer
	b.WriteString(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"requestKind":{"kind":"Etcd"}`)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, `,%q:%s`, k, all[k])
	}
	b.WriteString("}}")
	return b.String()
}
