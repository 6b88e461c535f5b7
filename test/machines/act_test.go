package machines

import (
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// allowDelete says that a deletion is meant.
var allowDelete = client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+v1alpha1.AnnotationAllowDelete+`":"true"}}}`))

// delete does what an operator does.
func (f *fleet) delete(names ...string) {
	f.t.Helper()
	for _, name := range names {
		must(f.t, f.tryDelete(name))
	}
}

func (f *fleet) tryDelete(name string) error {
	f.t.Helper()
	return f.deleteAs(admin, name)
}

func (f *fleet) deleteAs(who client.Client, name string) error {
	f.t.Helper()
	m := f.machine(name)
	must(f.t, admin.Patch(f.t.Context(), m, allowDelete))
	return who.Delete(f.t.Context(), m)
}

// refused wants an error of admission with this text.
func (f *fleet) refused(err error, text string) {
	f.t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		f.t.Fatalf("admission answered %v, want %s", err, text)
	}
}

// count changes the declared count.
func (f *fleet) count(n int) {
	f.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"controlPlane":{"count":%d}}}`, n)
	must(f.t, admin.Patch(f.t.Context(), f.cluster(), client.RawPatch("application/merge-patch+json", patch)))
}

// look asks the controller to look at a machine now, as a person can.
func (f *fleet) look(name string) {
	f.t.Helper()
	f.annotate(name, fmt.Sprintf("%q:%q", v1alpha1.AnnotationReconcileRequested, time.Now().Format(time.RFC3339Nano)))
}

// annotate changes annotations of a machine, given as fields of JSON.
func (f *fleet) annotate(name, fields string) {
	f.t.Helper()
	patch := []byte(`{"metadata":{"annotations":{` + fields + `}}}`)
	must(f.t, admin.Patch(f.t.Context(), f.machine(name), client.RawPatch("application/merge-patch+json", patch)))
}
