package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// target is one binary: where its module is, what to compile, under which flags.
type target struct {
	name    string // file name of the binary
	version string // of the module it comes from, such as v1.37.2
	module  string // folder of the Go module that pins it
	pkg     string // import path of its main package
	flags   []string

	wrapper   *wrapper // nil for a program as it is
	unstamped bool     // it is built each time
}

// plan is all that one Kubernetes minor needs, and the folder it goes to.
type plan struct {
	dir     string
	targets []target
}

// findRoot answers the repository's folder: the given one, or the nearest one
// upwards that has the folder of tool modules.
func findRoot(given string) (string, error) {
	start, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "test", "tools", "etcd", "go.mod")); err == nil {
			return dir, nil
		}
		if given != "" || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the repository: no test/tools/etcd/go.mod in %s or above it", start)
		}
	}
}

// makePlan reads the pinned versions from the tool modules themselves, so that
// a version is written down once.
func makePlan(root, minor string) (*plan, error) {
	tools := filepath.Join(root, "test", "tools")
	if minor == "" {
		newest, err := newestMinor(tools)
		if err != nil {
			return nil, err
		}
		minor = newest
	}
	kube := filepath.Join(tools, "kubernetes-"+minor)
	version, err := pinned(kube, "k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	p := &plan{dir: filepath.Join(root, "bin", "k8s-"+strings.TrimPrefix(version, "v"))}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kubectl"} {
		p.targets = append(p.targets, target{
			name: name, version: version, module: kube,
			pkg: "k8s.io/kubernetes/cmd/" + name, flags: kubeFlags(version),
		})
	}
	etcd := filepath.Join(tools, "etcd")
	etcdVersion, err := pinned(etcd, "go.etcd.io/etcd/server/v3")
	if err != nil {
		return nil, err
	}
	p.targets = append(p.targets, target{
		name: "etcd", version: etcdVersion, module: etcd,
		pkg: "go.etcd.io/etcd/server/v3", flags: []string{"-ldflags=-s -w"},
	})
	return p, nil
}

// kubeFlags makes the binaries report their real version: without it they call
// themselves v0.0.0-master+$Format, and kubectl refuses to print that.
func kubeFlags(version string) []string {
	numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	ld := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		ld = append(ld,
			"-X "+pkg+".gitVersion="+version,
			"-X "+pkg+".gitMajor="+numbers[0],
			"-X "+pkg+".gitMinor="+numbers[1])
	}
	return []string{"-ldflags=" + strings.Join(ld, " ")}
}

// goArgs is the command line that compiles the target into the file out.
func (t target) goArgs(out string) []string {
	args := []string{"build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false"}
	args = append(args, t.flags...)
	return append(args, "-o", out, t.pkg)
}

// stamp identifies what the binary is made from. The compiler's version is left
// out on purpose: a patch release of Go is no reason to build all this again.
func (t target) stamp() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.GOOS, runtime.GOARCH, strings.Join(t.goArgs(""), "\x00"))
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(t.module, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("read what %s is made from: %w", t.name, err)
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(content))
		sum.Write(content)
	}
	if err := t.wrapper.stamp(sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// pinned reads the version of a required module from the go.mod in dir.
func pinned(dir, module string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("no tool module %s: this version cannot be built here: %w", dir, err)
	}
	if err != nil {
		return "", fmt.Errorf("read the pinned version of %s: %w", module, err)
	}
	line := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(module) + `\s+(v\d+\.\d+\.\d+)\b`)
	found := line.FindSubmatch(content)
	if found == nil {
		return "", fmt.Errorf("%s: no version of %s is required there", filepath.Join(dir, "go.mod"), module)
	}
	return string(found[1]), nil
}

// newestMinor compares by number: 1.9 is older than 1.10.
func newestMinor(tools string) (string, error) {
	folders, err := filepath.Glob(filepath.Join(tools, "kubernetes-1.*"))
	if err != nil {
		return "", fmt.Errorf("list the tool modules: %w", err)
	}
	best := -1
	for _, folder := range folders {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), "kubernetes-1."))
		if err == nil && n > best {
			best = n
		}
	}
	if best < 0 {
		return "", fmt.Errorf("no kubernetes-1.N module in %s", tools)
	}
	return "1." + strconv.Itoa(best), nil
}
