package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// wrapper adds the package of test/node/wrap to a program by an overlay: to its main
// package a file that imports it, and beneath that the package itself. So no
// program's source knows of it.
type wrapper struct {
	root    string // of the repository
	program string // folder of the main package, under root
	module  string // folder of its Go module
}

func (w wrapper) sources() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(w.root, "test", "node", "wrap", "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the wrapper: %w", err)
	}
	var out []string
	for _, file := range found {
		if !strings.HasSuffix(file, "_test.go") {
			out = append(out, file)
		}
	}
	return out, nil
}

// stamp adds what the wrapper is made from; nothing for a program as it is.
func (w *wrapper) stamp(sum io.Writer) error {
	if w == nil {
		return nil
	}
	sources, err := w.sources()
	if err != nil {
		return err
	}
	mains, err := filepath.Glob(filepath.Join(w.root, w.program, "*.go"))
	if err != nil {
		return fmt.Errorf("list %s: %w", w.program, err)
	}
	for _, file := range append(sources, mains...) {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the wrapper: %w", err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(file), len(content), content)
	}
	return nil
}

// place is where the overlay of this program is written.
func (w wrapper) place() string {
	return filepath.Join(w.root, "bin", "wrapped", "_overlay", strings.ReplaceAll(w.program, "/", "-"))
}

func (w wrapper) overlayFile() string { return filepath.Join(w.place(), "overlay.json") }

// write makes the overlay's files.
func (w wrapper) write() error {
	sources, err := w.sources()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.place(), 0o755); err != nil {
		return fmt.Errorf("write the overlay of %s: %w", w.program, err)
	}
	path, err := w.importPath()
	if err != nil {
		return err
	}
	add := filepath.Join(w.place(), "wrapped.go")
	replace := map[string]string{filepath.Join(w.root, w.program, "wrapped.go"): add}
	for _, file := range sources {
		replace[filepath.Join(w.root, w.program, "wrap", filepath.Base(file))] = file
	}
	overlay, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the overlay of %s: %w", w.program, err)
	}
	for path, content := range map[string]string{
		add:             fmt.Sprintf("package main\n\nimport _ %q\n", path+"/wrap"),
		w.overlayFile(): string(overlay),
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write the overlay of %s: %w", w.program, err)
		}
	}
	return nil
}

// moduleLine is the one of a go.mod that names its module.
var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// importPath is that of the main package.
func (w wrapper) importPath() (string, error) {
	content, err := os.ReadFile(filepath.Join(w.module, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the module of %s: %w", w.program, err)
	}
	below, err := filepath.Rel(w.module, filepath.Join(w.root, w.program))
	found := moduleLine.FindSubmatch(content)
	if err != nil || found == nil {
		return "", fmt.Errorf("%s names no module for %s", filepath.Join(w.module, "go.mod"), w.program)
	}
	return string(found[1]) + "/" + filepath.ToSlash(below), nil
}

// wrappedEtcd is the plan's etcd, moved into a pod.
func wrappedEtcd(root, minor string, p *plan) *plan {
	etcd := p.targets[0]
	program := "test/tools/etcd-" + minor + "/wrapped"
	etcd.wrapper = &wrapper{root: root, program: program, module: etcd.module}
	etcd.pkg = "./wrapped"
	etcd.flags = append([]string{"-overlay=" + etcd.wrapper.overlayFile()}, etcd.flags...)
	return &plan{dir: filepath.Join(root, "bin", "wrapped", filepath.Base(p.dir)), targets: []target{etcd}}
}

// wrappedProduct has no stamps: only Go's build cache knows what the programs are
// made from.
func wrappedProduct(root string) *plan {
	p := &plan{dir: filepath.Join(root, "bin", "wrapped")}
	for _, name := range []string{"quorate", "quorate-guard"} {
		w := &wrapper{root: root, program: "cmd/" + name, module: root}
		p.targets = append(p.targets, target{
			name: name, version: "wrapped", module: root, pkg: "./cmd/" + name, wrapper: w, unstamped: true,
			flags: []string{"-ldflags=-w", "-overlay=" + w.overlayFile()},
		})
	}
	// It knows no names, and lies beside quorate-guard.
	reader := target{name: "quorate-guard-reader", version: "as it is", module: root, pkg: "./cmd/quorate-guard-reader", unstamped: true, flags: []string{"-ldflags=-w"}}
	p.targets = append(p.targets, reader)
	return p
}
