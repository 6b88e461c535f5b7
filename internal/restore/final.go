package restore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/talos"
)

// finals are the answers of a node to an upload or a bootstrap that another try does not
// change. All else may pass, within the limits: a node that is not ready, ran out of time,
// has data already or is silent, and what is wrong with the store or the folder.
var finals = []error{
	talos.ErrDenied, talos.ErrWrongCA, talos.ErrWrongCertificate, talos.ErrExpired, talos.ErrNotControlPlane, talos.ErrNotFound,
	talos.ErrOtherCluster, talos.ErrBundle, talos.ErrClosedDoor,
}

// maxRefusals is how many answers without a code of Talos in a row are an end: a node that
// reboots meanwhile gives such ones too.
const maxRefusals = 3

// judge ends the restore where the answer to an upload or a bootstrap is final.
func (r *run) judge(a restoring.Act, err error) {
	recovers := a.Kind == restoring.ActUpload || a.Kind == restoring.ActBootstrap
	if recovers && r.final(a.Kind, err) {
		r.marker.Failure = failure(r.marker, fmt.Sprintf("%s cannot recover etcd (%s): %s.", a.Node, a.Kind, err))
	}
}

// final tells whether the answer to an upload or a bootstrap ends the restore. It counts
// those without a code for each kind of act; any other answer to it begins anew.
func (r *run) final(kind restoring.Kind, err error) bool {
	if errors.Is(err, errSkipped) {
		return false // it was not asked, so this is no answer
	}
	if !errors.Is(err, talos.ErrFailed) {
		r.refusals[kind] = 0
		return slices.ContainsFunc(finals, func(f error) bool { return errors.Is(err, f) })
	}
	r.refusals[kind]++
	return r.refusals[kind] >= maxRefusals
}
