package restore

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

// passing are the errors of an upload or a bootstrap that another try may get past. All
// others are final.
var passing = []error{
	talos.ErrUnreachable, talos.ErrNotReady, talos.ErrShortDeadline, context.DeadlineExceeded, context.Canceled,
	store.ErrUnreachable, store.ErrNotFound, store.ErrDenied, fs.ErrNotExist, errWait, errLost, errSkipped, errSum,
}

// maxRefusals is how many answers without a code of Talos in a row are no end yet: a
// node that reboots meanwhile gives such ones too.
const maxRefusals = 3

func (r *run) final(err error) bool {
	if slices.ContainsFunc(passing, func(p error) bool { return errors.Is(err, p) }) {
		return false
	}
	r.refusals++
	return !errors.Is(err, talos.ErrFailed) || r.refusals >= maxRefusals
}
