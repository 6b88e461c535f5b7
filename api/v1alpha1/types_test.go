package v1alpha1

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestSchemeKnowsEveryKindAndItsList(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Etcd", "TalosCluster", "TalosMachine", "TalosEtcdBackup", "TalosOperation"} {
		for _, k := range []string{kind, kind + "List"} {
			if !scheme.Recognizes(GroupVersion.WithKind(k)) {
				t.Errorf("the scheme does not know %s", k)
			}
		}
	}
}

// What a Go client sends: nothing it did not set, and a hibernated size as 0.
func TestEncoding(t *testing.T) {
	for _, c := range []struct {
		name string
		obj  any
		want string
	}{
		{"no size is not 0", EtcdSpec{}, `{}`},
		{"size 0 is sent", EtcdSpec{Replicas: new(int32(0))}, `{"replicas":0}`},
		{"no status is left out", TalosOperation{}, `{"metadata":{},"spec":{"kind":"","clusterRef":{"name":""}}}`},
		{"current size 0 is sent", EtcdStatus{}, `{"replicas":0}`},
		{"facts of a member are sent when false", EtcdMember{ID: "a1", Role: RoleLearner},
			`{"name":"","id":"a1","role":"learner","started":false,"leader":false,"healthy":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.obj)
			if err != nil || string(got) != c.want {
				t.Errorf("%v got\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestACopySharesNothing(t *testing.T) {
	a := &Etcd{Spec: EtcdSpec{Replicas: new(int32(3))}}
	*a.DeepCopy().Spec.Replicas = 5
	if *a.Spec.Replicas != 3 {
		t.Error("a change of the copy changed the original")
	}
}
