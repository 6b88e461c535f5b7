package restore

import (
	"errors"
	"slices"

	"github.com/quorate/quorate/internal/talos"
)

// finals are the answers of a node to an upload or a bootstrap that another try does not
// change. All else, of the store, the folder or the way to the node, may pass, within
// the limits.
var finals = []error{
	talos.ErrDenied, talos.ErrWrongCA, talos.ErrWrongCertificate, talos.ErrExpired, talos.ErrNotControlPlane, talos.ErrNotFound,
	talos.ErrFailed, talos.ErrOtherCluster, talos.ErrBundle, talos.ErrClosedDoor,
}

// maxRefusals is how many answers without a code of Talos in a row are no end yet: a
// node that reboots meanwhile gives such ones too.
const maxRefusals = 3

func (r *run) final(err error) bool {
	if errors.Is(err, talos.ErrHasData) || !slices.ContainsFunc(finals, func(f error) bool { return errors.Is(err, f) }) {
		return false
	}
	r.refusals++
	return !errors.Is(err, talos.ErrFailed) || r.refusals >= maxRefusals
}
