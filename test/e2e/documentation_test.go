package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/test/world"
)

// TestExplain: kubectl explain prints the doc comment of each kind and of each
// field of its spec.
func TestExplain(t *testing.T) {
	crds, err := manifests.LoadCRDs()
	must(t, err)
	for _, crd := range crds {
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		t.Run(crd.Spec.Names.Kind, func(t *testing.T) {
			until(t, "the published schema of "+crd.Name, func(context.Context) error {
				return says(explain(t, crd.Spec.Names.Plural), schema.Description)
			})
			text := explain(t, crd.Spec.Names.Plural+".spec")
			for name, field := range schema.Properties["spec"].Properties {
				if err := says(text, field.Description); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func explain(t *testing.T, what string) string {
	t.Helper()
	return kubectl(t, world.Alice, "default", "", "explain", what)
}

// says compares without line breaks, which kubectl sets where it likes.
func says(text, want string) error {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if want == "" || !strings.Contains(flat(text), flat(want)) {
		return fmt.Errorf("it does not say %q: %s", want, text)
	}
	return nil
}

// TestSamples applies each sample in the order in which they refer to each
// other, and looks at the columns that kubectl get shows for them.
func TestSamples(t *testing.T) {
	ns := namespace(t)
	files, err := filepath.Glob(filepath.Join(shared.Root, "manifests", "samples", "*.yaml"))
	must(t, err)
	order := []string{"etcd.yaml", "etcd-bootstrap.yaml", "taloscluster.yaml", "talosmachine.yaml", "talosetcdbackup.yaml", "talosoperation.yaml"}
	for _, file := range files {
		if !slices.Contains(order, filepath.Base(file)) {
			t.Errorf("%s is not applied by this test", file)
		}
	}
	for _, name := range order {
		manifest, err := os.ReadFile(filepath.Join(shared.Root, "manifests", "samples", name))
		must(t, err)
		// A restore takes the verb override, which administrators have.
		r := tryKubectl(t, world.Admin, ns, string(manifest), "apply", "-f", "-")
		if r.Code != 0 || strings.Contains(r.Stderr, "Warning") {
			t.Errorf("%s: exit code %d: %s", name, r.Code, r.Stderr)
		}
	}
	testColumns(t, ns)
}

func testColumns(t *testing.T, ns string) {
	crds, err := manifests.LoadCRDs()
	must(t, err)
	for _, crd := range crds {
		for _, name := range append(crd.Spec.Names.ShortNames, crd.Spec.Names.Singular) {
			text := kubectl(t, world.Alice, ns, "", "get", name, "-o", "wide")
			for _, column := range crd.Spec.Versions[0].AdditionalPrinterColumns {
				if !strings.Contains(text, strings.ToUpper(column.Name)) {
					t.Errorf("kubectl get %s has no column %s:\n%s", name, column.Name, text)
				}
			}
		}
	}
	if all := kubectl(t, world.Alice, ns, "", "get", "quorate", "-o", "name"); strings.Count(all, "\n") != 6 {
		t.Errorf("kubectl get quorate lists:\n%s", all)
	}
}
