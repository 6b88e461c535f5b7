package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quorate/quorate/cel"
)

// HostFS reads files of this machine by relative or absolute path, slashes
// between the parts. Unlike os.DirFS it follows "..", since a policy.yaml names
// its CRDs that way.
type HostFS struct{}

// Open opens the file for reading.
func (HostFS) Open(name string) (fs.File, error) { return os.Open(filepath.FromSlash(name)) }

// Target is a rule folder that was asked for; Files is nil for all of it.
type Target struct {
	Dir   string
	Files []string
}

// ErrNoFolder says that a path leads to no rules.
var ErrNoFolder = errors.New("no rules there")

// Find expands paths as Go does: a folder, a case file or rule file, or DIR/... for
// the folders with cases below it. Without a path it searches "./...". Below
// "..." folders named testdata or beginning with a dot or underscore are left out.
func Find(fsys fs.FS, paths []string) ([]Target, error) {
	if len(paths) == 0 {
		paths = []string{"./..."}
	}
	found := map[string]*Target{}
	for _, p := range paths {
		if err := find(fsys, filepath.ToSlash(p), found); err != nil {
			return nil, err
		}
	}
	var targets []Target
	for _, t := range found {
		slices.Sort(t.Files)
		targets = append(targets, Target{t.Dir, slices.Compact(t.Files)})
	}
	slices.SortFunc(targets, func(a, b Target) int { return compareText(a.Dir, b.Dir) })
	return targets, nil
}

func find(fsys fs.FS, p string, found map[string]*Target) error {
	if root, ok := strings.CutSuffix(p, "..."); ok && (root == "" || strings.HasSuffix(root, "/")) {
		return findBelow(fsys, path.Clean(root), p, found)
	}
	p = path.Clean(p)
	info, err := fs.Stat(fsys, p)
	if err != nil {
		return fmt.Errorf("find rules: %w", err)
	}
	if info.IsDir() {
		found[p] = &Target{Dir: p}
		return nil
	}
	return addFile(fsys, p, found)
}

func addFile(fsys fs.FS, p string, found map[string]*Target) error {
	if !strings.HasSuffix(p, ".yaml") || path.Base(p) == cel.PolicyFile {
		return fmt.Errorf("%w: %s is neither a case file nor a rule file", ErrNoFolder, p)
	}
	if !strings.HasSuffix(p, caseSuffix) {
		p = strings.TrimSuffix(p, ".yaml") + caseSuffix
	}
	if _, err := fs.Stat(fsys, p); err != nil {
		return fmt.Errorf("find the cases of the rule: %w", err)
	}
	dir := path.Dir(p)
	switch t, ok := found[dir]; {
	case !ok:
		found[dir] = &Target{Dir: dir, Files: []string{p}}
	case t.Files != nil: // nil already means the whole folder
		t.Files = append(t.Files, p)
	}
	return nil
}

func findBelow(fsys fs.FS, root, pattern string, found map[string]*Target) error {
	count := 0
	err := fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && hidden(d.Name()):
			return fs.SkipDir
		case !d.IsDir() && marksFolder(fsys, p):
			count++
			found[path.Dir(p)] = &Target{Dir: path.Dir(p)}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("search %s: %w", pattern, err)
	}
	if count == 0 {
		return fmt.Errorf("%w: %s has no %s and no *%s beside its rule", ErrNoFolder, pattern, cel.PolicyFile, caseSuffix)
	}
	return nil
}

func hidden(name string) bool {
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// marksFolder tells policy.yaml, and a case file beside its rule, from files of
// other tools that are called alike.
func marksFolder(fsys fs.FS, p string) bool {
	if path.Base(p) == cel.PolicyFile {
		return !isManifest(fsys, p)
	}
	rule, ok := strings.CutSuffix(p, caseSuffix)
	if !ok {
		return false
	}
	_, err := fs.Stat(fsys, rule+".yaml")
	return err == nil
}

func isManifest(fsys fs.FS, p string) bool {
	data, err := fs.ReadFile(fsys, p)
	if err != nil {
		return false // reading it again says why
	}
	_, kind := child(parseNode(data), "kind")
	return kind != nil
}
