package epoch

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Held tells whether a restore brought an object back with unfinished work that waits
// for a person, and by which epoch. A TalosOperation is held by its phase.
func Held(o metav1.Object) (epoch string, ok bool) {
	epoch, ok = o.GetAnnotations()[v1alpha1.AnnotationHeldByRestore]
	if op, is := o.(*v1alpha1.TalosOperation); is {
		return epoch, op.Status.Phase == v1alpha1.PhaseHeld
	}
	return epoch, ok
}

// Hold has an object wait for a person, and tells whether that is news. The caller
// writes the object, and the phase of a TalosOperation.
func Hold(o metav1.Object, epoch string) bool {
	return annotate(o, v1alpha1.AnnotationHeldByRestore, epoch)
}

// retry is what releases a paused TalosOperation, which no epoch holds.
const retry = "retry"

// Release lets a held object or a paused TalosOperation go on, and tells whether it was
// one. The caller writes the object. Of a TalosOperation it is a request, which its
// controller follows.
func Release(o metav1.Object) bool {
	epoch, held := Held(o)
	if op, is := o.(*v1alpha1.TalosOperation); is && op.Status.Phase == v1alpha1.PhasePaused {
		return !Released(op) && annotate(o, v1alpha1.AnnotationRelease, retry)
	} else if is {
		return held && annotate(o, v1alpha1.AnnotationRelease, epoch)
	}
	if !held {
		return false
	}
	rest := o.GetAnnotations()
	delete(rest, v1alpha1.AnnotationHeldByRestore)
	o.SetAnnotations(rest)
	return true
}

// Released tells whether a person has let a TalosOperation go on: a held one for the
// epoch that holds it, and not for one before; a paused one with any value.
func Released(op *v1alpha1.TalosOperation) bool {
	epoch, held := Held(op)
	asked, ok := op.Annotations[v1alpha1.AnnotationRelease]
	if op.Status.Phase == v1alpha1.PhasePaused {
		return asked != ""
	}
	return held && ok && asked == epoch
}

func annotate(o metav1.Object, name, value string) bool {
	all := o.GetAnnotations()
	if had, ok := all[name]; ok && had == value {
		return false
	}
	if all == nil {
		all = map[string]string{}
	}
	all[name] = value
	o.SetAnnotations(all)
	return true
}

// HeldText says that an object of a kind is held, and the way out; empty if it is not.
func HeldText(kind string, o metav1.Object) string {
	epoch, held := Held(o)
	if !held {
		return ""
	}
	return fmt.Sprintf("Restore %s brought this %s back with work that was under way when the snapshot was taken, and nothing of it that cannot be undone is done. See that it is still wanted, then let it go on: quorate operation release %s/%s -n %s",
		epoch, kind, strings.ToLower(kind), o.GetName(), o.GetNamespace())
}
