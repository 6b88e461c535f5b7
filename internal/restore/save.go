package restore

import (
	"context"
	"errors"
	"fmt"
)

// save keeps the marker in the folder and then in the store, so that the folder's is
// never older. Where nothing depends on it, the store is spared. What must be saved is
// so if either has it: the folder outlives the container, the store the pod too.
func (r *run) save(ctx context.Context, must bool) error {
	now := r.Clock.Now()
	if !must && now.Sub(r.savedAt) < r.Limits.Note {
		return nil
	}
	text := r.marker.saved()
	if !must && text == r.saved && (!r.behind || now.Before(r.away)) {
		return nil
	}
	r.marker.Sequence++
	folder := r.saveFolder()
	var away error
	if r.Store != nil && (must && folder != nil || !now.Before(r.away)) {
		away = r.push(ctx)
	} else if r.Store != nil {
		r.behind, away = true, r.awayWhy
	}
	if errors.Is(away, errLost) {
		return away
	}
	if must && folder != nil && (away != nil || r.Store == nil) {
		return fmt.Errorf("nothing is done before the marker can be saved: %w", errors.Join(folder, away))
	}
	if away == nil || folder == nil {
		r.saved = text
	}
	return nil
}

// keepFolder has the folder follow what the store has already.
func (r *run) keepFolder() {
	if err := r.saveFolder(); err != nil {
		r.Log.Info("the restore's folder is behind the object store", "why", err.Error())
	}
}

func (r *run) saveFolder() error {
	if r.Desk == nil {
		return errNoFolder
	}
	return r.Desk.SaveMarker(r.marker)
}

var errNoFolder = errors.New("this process has no folder")

// saved is the marker without what changes at each write.
func (m Marker) saved() string {
	m.Sequence, m.Owner.Expires = 0, m.StartedAt
	data, err := m.Encode()
	if err != nil {
		return err.Error()
	}
	return string(data)
}
