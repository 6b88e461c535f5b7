package restoring

import (
	"fmt"
	"strings"
)

// ReturnedBackup is one of the backups of a snapshot.
type ReturnedBackup struct {
	Name string
	Returned
}

// Afterwards tells whoever restored without Kubernetes what is left to do once the API
// answers, for the controllers to find the marker in the store at; empty if a backup that
// comes back leads there. The backups are those of the cluster's namespace in the
// snapshot, of which there may be more.
func Afterwards(at StoreSettings, cluster, namespace string, backups []ReturnedBackup, more bool) string {
	var why []string
	unread := more
	for _, b := range backups {
		switch {
		case b.Absent:
		case b.Store == nil:
			unread = true
		default:
			missing := b.missing(at, namespace)
			if len(missing) == 0 {
				return ""
			}
			why = append(why, fmt.Sprintf("Of backup %s in the snapshot %s.", b.Name, strings.Join(missing, ", ")))
		}
	}
	if unread {
		return fmt.Sprintf("Whether a TalosEtcdBackup of cluster %s in the snapshot leads to the marker of this restore could not be read. %s", cluster, mendText)
	}
	if len(why) == 0 {
		why = []string{fmt.Sprintf("The snapshot has no TalosEtcdBackup of cluster %s in namespace %s.", cluster, namespace)}
	}
	return strings.Join(why, " ") + " " + mendText
}

// missing is what keeps a backup from leading to a store.
func (b ReturnedBackup) missing(at StoreSettings, namespace string) []string {
	out := at.changed(*b.Store)
	if b.NoSecret {
		out = append(out, fmt.Sprintf("the Secret %s/%s is missing", namespace, b.Secret))
	}
	return out
}

const mendText = "Once the API answers, see AT ONCE that one leads here, with its Secret: until then the controllers do not know of the restore, do not hold what comes back unfinished, such as the deletion of a machine, and restart no kubelet."
