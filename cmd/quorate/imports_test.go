package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/quorate/quorate/"

// rank is how far down the one way of imports a folder is: a package imports those
// of its own rank and below. What is not listed is not imported at all.
var rank = map[string]int{"api": 0, "cel": 1, "guard": 1, "certs": 1, "manifests": 1, "internal": 2, "webhooks": 3, "reconcilers": 3, "cmd": 4}

// wrongImport says what is wrong where a file of one folder imports a package.
func wrongImport(file, imported string) string {
	below, ours := strings.CutPrefix(imported, module)
	if !ours {
		return ""
	}
	from, to := first(file), first(below)
	if r, known := rank[to]; !known || r > rank[from] {
		return file + " imports " + below
	}
	return ""
}

func first(path string) string { return strings.SplitN(path, "/", 2)[0] }

// Imports run one way, as README.md says, and nothing imports test.
func TestImportsRunOneWay(t *testing.T) {
	root, seen := os.DirFS("../.."), 0
	for folder := range rank {
		err := fs.WalkDir(root, folder, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			source, err := fs.ReadFile(root, file)
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range parsed.Imports {
				imported, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					return err
				}
				if wrong := wrongImport(file, imported); wrong != "" {
					t.Error(wrong)
				}
			}
			seen++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("%d files, want all of them", seen)
	}
}

func TestWrongImport(t *testing.T) {
	for _, tt := range []struct{ file, imported, want string }{
		{"cel/a.go", "fmt", ""},
		{"cel/a.go", module + "api/v1alpha1", ""},
		{"webhooks/a.go", module + "internal/kube", ""},
		{"internal/manager/a.go", module + "webhooks", "internal/manager/a.go imports webhooks"},
		{"cel/a.go", module + "internal/kube", "cel/a.go imports internal/kube"},
		{"cmd/quorate/a.go", module + "test/world", "cmd/quorate/a.go imports test/world"},
	} {
		if got := wrongImport(tt.file, tt.imported); got != tt.want {
			t.Errorf("%s imports %s: got %q, want %q", tt.file, tt.imported, got, tt.want)
		}
	}
}
