package manager

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// A marker is named by the operation that it belongs to; one that cannot be understood
// keeps the gate closed all the same.
func TestMarkText(t *testing.T) {
	m := &restore.Marker{Cluster: "prod", Snapshot: restore.Snapshot{Name: "etcd-20300102T140405Z.snapshot.age"}, Step: v1alpha1.StepRejoining}
	ordered := *m
	ordered.Operation = restore.Operation{Namespace: "factory", Name: "rewind"}
	newer, away := fmt.Errorf("%w: it has schema 9", restore.ErrNewerMarker), errors.New("away")
	for name, c := range map[string]struct {
		marker *restore.Marker
		err    error
		want   string
		fails  error
	}{
		"none":             {nil, restore.ErrNoMarker, "", nil},
		"an operation's":   {&ordered, nil, "TalosOperation factory/rewind restores TalosCluster prod from etcd-20300102T140405Z.snapshot.age (Rejoining)", nil},
		"a person's":       {m, nil, "a restore from the command line restores TalosCluster prod from etcd-20300102T140405Z.snapshot.age (Rejoining)", nil},
		"a newer one":      {nil, newer, "the marker is of a newer Quorate: it has schema 9", nil},
		"a damaged one":    {nil, restore.ErrMarker, "", restore.ErrMarker},
		"nobody who tells": {nil, away, "", away},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := markText(c.marker, c.err); got != c.want || !errors.Is(err, c.fails) {
				t.Errorf("got %q, %v; want %q, %v", got, err, c.want, c.fails)
			}
		})
	}
}

// A store that does not answer is not one without a marker. One without credentials is: a
// rewind brings the Secret back that its snapshot was stored with, and a backup that
// nobody has finished declaring must not hold up everything.
func TestMarkOfNoStore(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "factory", Name: "keys"}, Data: map[string][]byte{"accessKeyID": []byte("a"), "secretAccessKey": []byte("b")}}
	b := &v1alpha1.TalosEtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "factory", Name: "nightly"}}
	b.Spec.ObjectStore = v1alpha1.ObjectStore{Endpoint: "http://127.0.0.1:1", Region: "us-east-1", Bucket: "backups", CredentialsRef: v1alpha1.LocalRef{Name: "none"}}
	marks := storeMarks{fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(secret).Build()}
	if found, err := marks.Marked(t.Context(), b); err != nil || found != "" {
		t.Errorf("without credentials: %q, %v", found, err)
	}
	b.Spec.ObjectStore.CredentialsRef.Name = "keys"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if found, err := marks.Marked(ctx, b); !errors.Is(err, store.ErrUnreachable) || found != "" {
		t.Errorf("without an answer: %q, %v", found, err)
	}
}
