package restoreplan

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

func TestChoice(t *testing.T) {
	cluster := &v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pier"}}
	empty := &v1alpha1.TalosEtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "empty"}, Spec: v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "prod"}}}
	const open = "what is to be restored is open: "
	for _, tt := range []struct {
		name    string
		request Request
		objects []client.Object
		want    string
	}{
		{"no cluster", Request{}, nil, open + "there is no TalosCluster in namespace default"},
		{"two clusters", Request{}, append(world(), cluster), open + "there is more than one TalosCluster in namespace default: pier, prod; name one with --cluster"},
		{"another cluster", Request{Cluster: "quay"}, world(), open + "there is no TalosCluster quay in namespace default"},
		{"no backup", Request{Cluster: "pier"}, append(world(), cluster), open + "there is no TalosEtcdBackup of cluster pier"},
		{"two backups", Request{}, append(world(), empty), open + "there is more than one TalosEtcdBackup of cluster prod: empty, nightly; name one with --backup"},
		{"another backup", Request{Backup: "hourly"}, world(), open + "there is no TalosEtcdBackup hourly in namespace default"},
		{"no snapshot yet", Request{Backup: "empty"}, append(world(), empty), open + "TalosEtcdBackup empty has no snapshot yet; take one with quorate backup now empty"},
		{"no snapshot's name", Request{Snapshot: "yesterday"}, world(), open + `"yesterday" is no snapshot's name; they are like etcd-20300102T150405Z.snapshot.age`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := planned(t, nil, tt.request, tt.objects...); !errors.Is(err, ErrChoice) || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
