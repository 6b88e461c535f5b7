package manifests_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// installed are the folders that manifests/default brings together.
var installed = []string{"manager", "crd", "rbac", "policy", "webhook"}

// kustomization is as much of kustomize's file as is used here.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Images     []struct {
		Name   string `json:"name"`
		NewTag string `json:"newTag"`
	} `json:"images"`
	Replacements []any `json:"replacements"`
}

func readKustomization(t *testing.T, dir string) kustomization {
	t.Helper()
	data, err := os.ReadFile(path.Join(dir, "kustomization.yaml"))
	if err != nil {
		t.Fatalf("read kustomization: %v", err)
	}
	var k kustomization
	if err := yaml.UnmarshalStrict(data, &k); err != nil {
		t.Fatalf("decode %s/kustomization.yaml: %v", dir, err)
	}
	return k
}

// strict decodes a built-in object or a CRD; an unknown or repeated field is an
// error.
func strict(t *testing.T) runtime.Decoder {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), apiextensionsv1.AddToScheme(s)); err != nil {
		t.Fatalf("make a scheme: %v", err)
	}
	return serializer.NewCodecFactory(s, serializer.EnableStrict).UniversalDeserializer()
}

// objectsOf decodes every object of a file.
func objectsOf(t *testing.T, file string) []runtime.Object {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("read manifest: %v", err)
	}
	decoder, documents := strict(t), utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var out []runtime.Object
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("split %s: %v", file, err)
		}
		if emptyDocument(document) {
			continue
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("decode %s: %v", file, err)
		}
		out = append(out, object)
	}
}

// all returns every installed object of the type.
func all[T runtime.Object](t *testing.T) []T {
	t.Helper()
	var out []T
	for _, dir := range installed {
		for _, file := range readKustomization(t, dir).Resources {
			for _, object := range objectsOf(t, path.Join(dir, file)) {
				if o, ok := object.(T); ok {
					out = append(out, o)
				}
			}
		}
	}
	return out
}

// only returns the one installed object of the type.
func only[T runtime.Object](t *testing.T) T {
	t.Helper()
	found := all[T](t)
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, want 1", len(found), *new(T))
	}
	return found[0]
}

func TestKustomizationsListEveryFile(t *testing.T) {
	var want []string
	for _, dir := range installed {
		want = append(want, "../"+dir)
	}
	if got := readKustomization(t, "default").Resources; !slices.Equal(got, want) {
		t.Errorf("default = %v, want %v", got, want)
	}
	for _, dir := range installed {
		files, err := fs.Glob(os.DirFS(dir), "*.yaml")
		if err != nil {
			t.Fatalf("list %s: %v", dir, err)
		}
		files = slices.DeleteFunc(files, func(f string) bool { return f == "kustomization.yaml" })
		listed := slices.Sorted(slices.Values(readKustomization(t, dir).Resources))
		if !slices.Equal(listed, files) {
			t.Errorf("%s lists %v, has %v", dir, listed, files)
		}
		for _, file := range files {
			if len(objectsOf(t, path.Join(dir, file))) == 0 {
				t.Errorf("%s/%s holds no object", dir, file)
			}
		}
	}
}

func emptyDocument(document []byte) bool {
	for line := range strings.Lines(string(document)) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}
