package suite

import (
	"reflect"
	"testing"

	"github.com/quorate/quorate/cel"
)

func sampleFolder(t *testing.T) *Folder {
	t.Helper()
	folder, err := LoadFolder(sample(t, nil), "widgets")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// one parses a file of one case.
func one(t *testing.T, body string) *Case {
	t.Helper()
	text := "rule: r\ncases:\n- name: x\n  expect: allow\n" + body
	file, err := parseFile("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return file.Cases[0]
}

func TestRequestsAreThoseOfAnAPIServer(t *testing.T) {
	type object = map[string]any
	widget := func(spec, status object) object {
		w := object{
			"apiVersion": "example.com/v1", "kind": "Widget",
			"metadata": object{"name": "sample", "namespace": "default"}, "spec": spec,
		}
		if status != nil {
			w["status"] = status
		}
		return w
	}
	tests := map[string]struct {
		body        string
		object, old object
	}{
		"an update keeps the status": {
			"  old: {spec: {replicas: 3}, status: {phase: Busy}}\n  new: {spec: {replicas: 1}}\n",
			widget(object{"replicas": int64(1)}, object{"phase": "Busy"}), widget(object{"replicas": int64(3)}, object{"phase": "Busy"}),
		},
		"a patch removes": {
			"  old: {spec: {replicas: 3, color: red}}\n  patch: {spec: {replicas: null}}\n",
			widget(object{"color": "red"}, nil), widget(object{"replicas": int64(3), "color": "red"}, nil),
		},
		"a patch goes onto new": {
			"  old: {spec: {replicas: 3}}\n  new: {spec: {color: red}}\n  patch: {spec: {replicas: 2}}\n",
			widget(object{"color": "red", "replicas": int64(2)}, nil), widget(object{"replicas": int64(3)}, nil),
		},
		"status alone": {
			"  subresource: status\n  old: {spec: {replicas: 3}}\n  patch: {status: {phase: Idle}}\n",
			widget(object{"replicas": int64(3)}, object{"phase": "Idle"}), widget(object{"replicas": int64(3)}, nil),
		},
		"status removed": {
			"  subresource: status\n  old: {spec: {}, status: {phase: Idle}}\n  patch: {status: null}\n",
			widget(object{}, nil), widget(object{}, object{"phase": "Idle"}),
		},
		"scale": {
			"  subresource: scale\n  old: {spec: {color: red, replicas: 1}, status: {phase: Idle}}\n  patch: {spec: {replicas: 2}}\n",
			widget(object{"color": "red", "replicas": int64(2)}, object{"phase": "Idle"}),
			widget(object{"color": "red", "replicas": int64(1)}, object{"phase": "Idle"}),
		},
		"a creation from old": {
			"  operation: CREATE\n  old: {spec: {color: red}, status: {phase: Idle}}\n  patch: {spec: {replicas: 2}}\n",
			widget(object{"color": "red", "replicas": int64(2)}, nil), nil,
		},
		"a deletion": {
			"  operation: DELETE\n  old: {spec: {color: red}}\n  patch: {spec: {replicas: 2}}\n",
			nil, widget(object{"color": "red"}, nil),
		},
		"raw": {
			"  raw: true\n  old: {spec: {replicas: 70}, status: {phase: Busy}}\n  patch: {spec: {replicas: 1}, status: null}\n",
			widget(object{"replicas": int64(1)}, nil), widget(object{"replicas": int64(70)}, object{"phase": "Busy"}),
		},
	}
	k := sampleFolder(t).kinds["widgets"]
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := k.request(one(t, test.body), "widgets")
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(r.Object, test.object) {
				t.Errorf("object: got %v, want %v", r.Object, test.object)
			}
			if !reflect.DeepEqual(r.OldObject, test.old) {
				t.Errorf("old object: got %v, want %v", r.OldObject, test.old)
			}
			if r.Name != "sample" || r.Namespace != "default" {
				t.Errorf("got %s/%s", r.Namespace, r.Name)
			}
		})
	}
}

func TestGeneratedNameStaysEmpty(t *testing.T) {
	k := sampleFolder(t).kinds["widgets"]
	r, err := k.request(one(t, "  new: {metadata: {generateName: w-}, spec: {}}\n"), "widgets")
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "" || r.Operation != cel.Create {
		t.Errorf("got %q, %s", r.Name, r.Operation)
	}
}

func TestRequestProblems(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"status in an update": {
			"  old: {spec: {}}\n  patch: {spec: {}, status: {phase: Idle}}\n",
			"f.yaml:6:21: patch.status: an update of the object keeps its status; say subresource: status, or raw: true",
		},
		"status in a creation": {
			"  new: {spec: {}, status: {phase: Idle}}\n",
			"f.yaml:5:19: new.status: a created object has no status; say raw: true to judge it all the same",
		},
		"spec in an update of status": {
			"  subresource: status\n  old: {spec: {}}\n  patch: {spec: {color: red}, status: {}}\n",
			"f.yaml:7:11: patch.spec: an update of status changes nothing else; say raw: true to judge it all the same",
		},
		"a color in a scale request": {
			"  subresource: scale\n  old: {spec: {}}\n  patch: {spec: {color: red}}\n",
			"f.yaml:7:11: patch.spec: a scale request changes the replicas alone; say raw: true to judge it all the same",
		},
		"an unknown field": {
			"  old: {spec: {}}\n  patch: {spec: {colour: red}}\n",
			`f.yaml:6:18: new: unknown field "spec.colour"`,
		},
		"an unknown field, raw": {
			"  raw: true\n  old: {spec: {colour: red}}\n  patch: {spec: {colour: null}}\n",
			`f.yaml:6:16: old: unknown field "spec.colour"`,
		},
		"an unknown field of the metadata": {
			"  new: {metadata: {anotations: {}}, spec: {}}\n",
			`f.yaml:5:20: new: unknown field "metadata.anotations"`,
		},
		"a wrong type": {
			"  new: {spec: {replicas: many}}\n",
			`f.yaml:5:16: new: spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"`,
		},
		"a value out of range": {
			"  new: {spec: {tags: [a, much too long for a tag]}}\n",
			`f.yaml:5:26: new: spec.tags[1]: Too long: may not be more than 16 bytes`,
		},
	}
	k := sampleFolder(t).kinds["widgets"]
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := k.request(one(t, test.body), "widgets")
			if err == nil || err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}
