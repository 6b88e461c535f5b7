package restoreplan

import (
	"context"
	"errors"
)

// ask reads what lies beyond the API server, and says of each piece if it could not.
func (f *facts) ask(ctx context.Context, beyond Beyond) {
	for _, question := range []struct {
		failed string
		ask    func(context.Context, Beyond) error
	}{
		{"What is recorded beside the snapshot could not be read", f.askThen},
		{"The CAs and the key of the backups could not be compared", f.askSecrets},
		{"Whether another restore has begun could not be read", f.askMarker},
		{"etcd's revision and alarms could not be read", f.askNow},
	} {
		bounded, cancel := context.WithTimeout(ctx, askTimeout)
		err := question.ask(bounded, beyond)
		cancel()
		if err != nil {
			f.missing(question.failed, err)
		}
	}
	if f.then == nil {
		return
	}
	if err := f.askFound(ctx, beyond); err != nil {
		f.missing("What the controllers will find after the rewind could not be read in the snapshot", err)
	}
	if err := f.compare(ctx, beyond); err != nil {
		f.missing("Objects of now and of the snapshot could not be compared", err)
	}
}

// askThen also knows of a snapshot that the backup's status does not list yet, or that is
// gone although it does.
func (f *facts) askThen(ctx context.Context, beyond Beyond) error {
	then, err := beyond.Then(ctx, f.snapshot.Name)
	if errors.Is(err, ErrNotWhole) {
		f.listed = false
		return nil
	}
	if err != nil {
		return err
	}
	f.then, f.listed = &then, true
	f.snapshot.Time.Time = then.Time
	if then.Revision > 0 {
		f.snapshot.Revision = then.Revision
	}
	return nil
}

func (f *facts) askSecrets(ctx context.Context, beyond Beyond) (err error) {
	f.secrets, err = beyond.Secrets(ctx)
	return err
}

func (f *facts) askMarker(ctx context.Context, beyond Beyond) (err error) {
	f.marker, err = beyond.Marker(ctx)
	return err
}

func (f *facts) askNow(ctx context.Context, beyond Beyond) error {
	now, err := beyond.Now(ctx)
	if err != nil {
		return err
	}
	f.alarms = now.Alarms
	if now.Revision > 0 {
		f.revision = now.Revision
	}
	return nil
}

func (f *facts) askFound(ctx context.Context, beyond Beyond) error {
	ctx, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	found, err := beyond.Found(ctx, f.snapshot.Name)
	if err == nil {
		f.returned, f.missingCRDs = ReturnedOf(f.backup, found), MissingCRDs(found)
	}
	return err
}

func (f *facts) compare(ctx context.Context, beyond Beyond) (err error) {
	ctx, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	f.differences, err = compare(ctx, beyond.KeysNow(ctx, registry), beyond.KeysThen(ctx, f.snapshot.Name, registry))
	return err
}
