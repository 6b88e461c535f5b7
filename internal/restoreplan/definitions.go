package restoreplan

import (
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
)

// WantedCRDs are the definitions that this version cannot do without, by name.
var WantedCRDs = []string{
	"etcds." + v1alpha1.Group, "talosclusters." + v1alpha1.Group, "talosetcdbackups." + v1alpha1.Group,
	"talosmachines." + v1alpha1.Group, "talosoperations." + v1alpha1.Group,
}

// MissingCRDs are those of them that a snapshot has not.
func MissingCRDs(found snapshot.Inspection) []string {
	return slices.DeleteFunc(slices.Clone(WantedCRDs), func(name string) bool {
		return slices.ContainsFunc(found.CRDs, func(c snapshot.CRD) bool { return c.Name == name })
	})
}
