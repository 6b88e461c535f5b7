package etcd

import (
	"maps"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/quorate/quorate/guard"
)

// alarms say what etcd refuses for an alarm, and the way out; nothing if none is
// raised. One member's alarm stops the whole cluster, until a person disarms it: even
// after that member is gone.
func (c *cycle) alarms() string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(c.view.Alarms)) {
		who := "a member that is gone"
		if i := slices.IndexFunc(c.view.Members, func(m guard.Member) bool { return m.ID == id }); i >= 0 {
			who = c.view.Members[i].Label()
		}
		for _, kind := range c.view.Alarms[id] {
			out = append(out, who+" has raised "+kind+": "+remedy(kind))
		}
	}
	return strings.Join(out, " ")
}

func remedy(alarm string) string {
	switch alarm {
	case etcdserverpb.AlarmType_NOSPACE.String():
		return "the cluster takes no writes. Compact and defragment it or raise spec.etcd.quotaBackendBytes, then disarm the alarm."
	case etcdserverpb.AlarmType_CORRUPT.String():
		return "the cluster answers no requests for keys. Once that member is replaced or removed, disarm the alarm."
	}
	return "see etcd's documentation, and disarm it."
}
