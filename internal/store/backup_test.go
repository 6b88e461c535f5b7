package store_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/store"
)

// What a person forgot is named, with the way out.
func TestFromBackup(t *testing.T) {
	b := &v1alpha1.TalosEtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "factory", Name: "hourly"}, Spec: v1alpha1.TalosEtcdBackupSpec{
		ObjectStore: v1alpha1.ObjectStore{Endpoint: "https://s3.example.com", Region: "eu-central-1", Bucket: "backups", Prefix: "a/b", CredentialsRef: v1alpha1.LocalRef{Name: "keys"}},
	}}
	for _, c := range []struct {
		name string
		data map[string][]byte
		want string
	}{
		{"no Secret", nil, "settings of the object store: there is no Secret factory/keys; create it with the keys accessKeyID and secretAccessKey"},
		{"no ID", map[string][]byte{"secretAccessKey": []byte("x")}, "settings of the object store: Secret factory/keys has no key accessKeyID; put the store's credentials there"},
		{"no key", map[string][]byte{"accessKeyID": []byte("x"), "secretAccessKey": {}}, "settings of the object store: Secret factory/keys has no key secretAccessKey; put the store's credentials there"},
		{"no certificate", map[string][]byte{"accessKeyID": []byte("x"), "secretAccessKey": []byte("y"), "ca.crt": []byte("z")},
			"TalosEtcdBackup factory/hourly: settings of the object store: the CA is no certificate in PEM"},
		{"all", map[string][]byte{"accessKeyID": []byte("x"), "secretAccessKey": []byte("y")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := fake.NewClientBuilder()
			if c.data != nil {
				api.WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "factory", Name: "keys"}, Data: c.data})
			}
			s, err := store.FromBackup(t.Context(), api.Build(), b)
			if c.want == "" {
				if s == nil || err != nil {
					t.Errorf("said %v", err)
				}
				return
			}
			if !errors.Is(err, store.ErrSettings) || err.Error() != c.want {
				t.Errorf("said %v, want %s", err, c.want)
			}
		})
	}
}
