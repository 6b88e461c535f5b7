package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

// gates answer one after the other; the last answer stays.
type gates struct {
	w   *world
	why []string
	err error
}

func (g *gates) Wait(_ context.Context, namespace, cluster string) (string, error) {
	g.w.calls = append(g.w.calls, "gate "+namespace+"/"+cluster)
	why := g.why[0]
	if len(g.why) > 1 {
		g.why = g.why[1:]
	}
	return why, g.err
}

const restoreText = "A restore is on its way: TalosOperation default/rewind. See quorate operation list."

// A member that rejoined is not removed while a restore is on its way, at whichever
// of the two looks that is found; it is afterwards.
func TestNoRemovalDuringARestore(t *testing.T) {
	for name, answers := range map[string][]string{"before the lock": {restoreText}, "under the lock": {"", restoreText}} {
		t.Run(name, func(t *testing.T) {
			w := rejoin(t)
			gate := &gates{w: w, why: answers}
			w.r.Gate = gate
			for range 3 {
				w.reconcile()
			}
			w.says("Ready", rejoined4+asSoonAsNot+strings.TrimSuffix(restoreText, ".")+once)
			w.says(v1alpha1.ConditionReconciling, "True RestoreInProgress: "+restoreText)
			if len(w.removals) > 0 || w.ledgerText() != first {
				t.Errorf("removals %x, ledger %s", w.removals, w.ledgerText())
			}
			w.tells(tellOf4, warnOf4)
			gate.why = []string{""}
			w.settle()
			for _, c := range w.cluster().Status.Conditions {
				if c.Type == v1alpha1.ConditionReconciling {
					t.Errorf("%+v is left", c)
				}
			}
		})
	}
}

// An API server that does not tell of restores leaves everything as it is.
func TestNoRemovalWithoutAnAnswer(t *testing.T) {
	w := rejoin(t)
	w.r.Gate = &gates{w: w, why: []string{""}, err: errors.New("list the backups: away")}
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), "list the backups: away") || len(w.removals) > 0 {
		t.Errorf("error %v, removals %x", err, w.removals)
	}
}
