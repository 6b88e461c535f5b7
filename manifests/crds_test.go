package manifests

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

func TestTheAPIServerAcceptsTheCRDs(t *testing.T) {
	for _, crd := range mustLoad(t) {
		in := toInternal(t, crd)
		in.Status.StoredVersions = []string{"v1alpha1"} // the API server fills this in itself
		for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), in) {
			t.Errorf("%s: %v", crd.Name, err)
		}
	}
}

func TestKindsHaveTheirNamesAndSubresources(t *testing.T) {
	var got []string
	for _, crd := range mustLoad(t) {
		v := crd.Spec.Versions[0]
		line := []string{crd.Spec.Names.Kind, crd.Name, string(crd.Spec.Scope), v.Name}
		line = append(line, crd.Spec.Names.ShortNames...)
		line = append(line, crd.Spec.Names.Categories...)
		if v.Subresources.Status != nil {
			line = append(line, "status")
		}
		if s := v.Subresources.Scale; s != nil {
			line = append(line, s.SpecReplicasPath, s.StatusReplicasPath, *s.LabelSelectorPath)
		}
		got = append(got, strings.Join(line, " "))
	}
	want := []string{
		"Etcd etcds.quorate.dev Namespaced v1alpha1 qe quorate status .spec.replicas .status.replicas .status.selector",
		"TalosCluster talosclusters.quorate.dev Namespaced v1alpha1 tc quorate status",
		"TalosEtcdBackup talosetcdbackups.quorate.dev Namespaced v1alpha1 teb quorate status",
		"TalosMachine talosmachines.quorate.dev Namespaced v1alpha1 tm quorate status",
		"TalosOperation talosoperations.quorate.dev Namespaced v1alpha1 top quorate status",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLoadCRDsNamesTheFileAtFault(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"unknown field", "kind: CustomResourceDefinition\nspecs: {}\n", `decode CRD file crd/x.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "specs"`},
		{"no YAML", "\t", "decode CRD file crd/x.yaml: error converting YAML to JSON: yaml: found character that cannot start any token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadCRDs(fstest.MapFS{"crd/x.yaml": {Data: []byte(c.file)}}, "crd")
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestLoadCRDsWithAFileThatCannotBeRead(t *testing.T) {
	_, err := loadCRDs(fstest.MapFS{"crd/x.yaml": {Mode: fs.ModeDir}}, "crd")
	if !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %v, want an error of reading a folder", err)
	}
}
