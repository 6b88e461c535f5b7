package running

import (
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/internal/restore"
)

// Left are the clusters whose folder has the marker of a restore that was not ended here,
// with that marker. A folder that cannot be read has none.
func (j *Jobs) Left() map[types.NamespacedName]*restore.Marker {
	entries, err := os.ReadDir(j.o.Dir)
	if err != nil {
		j.o.Log.Error(err, "the folder of restores cannot be read")
		return nil
	}
	left := map[types.NamespacedName]*restore.Marker{}
	for _, e := range entries {
		cluster, ok := clusterOf(e)
		if !ok {
			continue
		}
		folder, err := j.Folder(cluster)
		if err != nil {
			continue
		}
		if m, err := folder.Marker(); err == nil {
			left[cluster] = m
		}
	}
	return left
}

// clusterOf is the cluster that a folder is for.
func clusterOf(e os.DirEntry) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(e.Name(), "_") // which is in neither
	return types.NamespacedName{Namespace: namespace, Name: name}, ok && e.IsDir()
}
