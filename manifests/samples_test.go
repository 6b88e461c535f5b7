package manifests

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/quorate/quorate/api/v1alpha1"
)

// samples are the files a newcomer starts from, with the kind of each.
var samples = map[string]string{
	"etcd.yaml":            "Etcd",
	"etcd-bootstrap.yaml":  "Etcd",
	"taloscluster.yaml":    "TalosCluster",
	"talosmachine.yaml":    "TalosMachine",
	"talosetcdbackup.yaml": "TalosEtcdBackup",
	"talosoperation.yaml":  "TalosOperation",
}

func TestEverySampleIsKnownHere(t *testing.T) {
	files, err := filepath.Glob("samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if samples[filepath.Base(file)] == "" {
			t.Errorf("%s is in no test", file)
		}
	}
	if len(files) != len(samples) {
		t.Errorf("%d files, %d known", len(files), len(samples))
	}
}

func TestSamplesAreWhatTheAPIServerTakes(t *testing.T) {
	for file, kind := range samples {
		t.Run(file, func(t *testing.T) {
			obj := map[string]any{}
			if err := yaml.Unmarshal(read(t, file), &obj); err != nil {
				t.Fatal(err)
			}
			for _, objection := range serve(t, byKind(t, kind)).create(obj) {
				t.Error(objection)
			}
		})
	}
}

func TestSamplesDecodeStrictlyIntoTheirTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for file, kind := range samples {
		t.Run(file, func(t *testing.T) {
			_, gvk, err := decoder.Decode(read(t, file), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := v1alpha1.GroupVersion.WithKind(kind); *gvk != want {
				t.Errorf("got %v, want %v", gvk, want)
			}
		})
	}
}

func TestSamplesExplainThemselves(t *testing.T) {
	for file := range samples {
		if data := read(t, file); !bytes.HasPrefix(data, []byte("# ")) {
			t.Errorf("%s does not begin with a comment", file)
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("samples", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
