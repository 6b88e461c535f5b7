package restore

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/quorate/quorate/api/v1alpha1"
)

// rewindPoll is how often it is looked whether the API server was rewound, or a backup was
// made or mended.
const rewindPoll = time.Minute

// Start looks at once, and again after each rewind and beside each backup that is made or
// mended, until the context ends.
func (r *Resume) Start(ctx context.Context) error {
	for r.untilDone(ctx) && r.untilRewound(ctx) {
		r.Log.Info("the API server's etcd was rewound: restores are looked for")
	}
	return nil
}

// untilDone repeats until a pass leaves nothing to do, after 1 s, 2 s and so on up to
// 30 s; false if the context ends. The webhook that admits the operation may be this very
// process's, and not be reached yet.
func (r *Resume) untilDone(ctx context.Context) bool {
	backoff := wait.Backoff{Duration: time.Second, Factor: 2, Steps: 6, Cap: 30 * time.Second}
	for {
		err := r.Pass(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err() == nil
		}
		r.Log.Error(err, "restores are looked for again")
		if !pause(ctx, backoff.Step()) {
			return false
		}
	}
}

// untilRewound waits for a list of another timeline, and looks meanwhile beside backups that
// were made or changed; false if the context ends.
func (r *Resume) untilRewound(ctx context.Context) bool {
	for pause(ctx, rewindPoll) {
		list, err := r.backups(ctx)
		if err != nil {
			continue
		}
		if r.line.Rewound(list.ResourceVersion) {
			return true
		}
		r.lookLater(ctx, list.Items)
	}
	return false
}

// lookLater looks at what nobody has asked yet. What fails is tried at the next poll.
func (r *Resume) lookLater(ctx context.Context, backups []v1alpha1.TalosEtcdBackup) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	if err := r.look(ctx, r.unasked(backups)); err != nil {
		r.Log.Error(err, "restores are looked for again in a minute")
	}
}

// pause is false if the context ends before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
