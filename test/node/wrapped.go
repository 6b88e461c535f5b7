package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/quorate/quorate/test/product"
)

// ErrNoProgram: no program of this name and version was built.
var ErrNoProgram = errors.New("no program")

// Wrapped builds what runs in an Etcd's pods, each program with package wrap, and
// answers them: quorate, quorate-guard, and etcd of these minors (3.7 if there are
// none) by the minor in the image's tag. What is up to date is used as it is.
func Wrapped(ctx context.Context, progress io.Writer, minors ...string) (Programs, error) {
	if len(minors) == 0 {
		minors = []string{"3.7"}
	}
	dir, err := product.Wrapped(ctx, progress)
	if err != nil {
		return nil, err
	}
	binaries := map[string]string{}
	for _, name := range []string{"quorate", "quorate-guard"} {
		binaries[name] = filepath.Join(dir, name)
	}
	for _, minor := range minors {
		dir, err := product.WrappedEtcd(ctx, progress, minor)
		if err != nil {
			return nil, err
		}
		binaries["etcd "+minor] = filepath.Join(dir, "etcd")
	}
	return func(image string, command []string) (string, error) {
		name := programName(image, command)
		if binaries[name] == "" {
			return "", fmt.Errorf("%w: %s", ErrNoProgram, name)
		}
		return binaries[name], nil
	}, nil
}

// minorTag is the minor in a tag such as v3.7.3 or 3.7.3-0.
var minorTag = regexp.MustCompile(`:v?(\d+\.\d+)\.\d+[^:/]*$`)

// programName is that of the command, else of the image; with its minor for etcd.
func programName(image string, command []string) string {
	base, _, _ := strings.Cut(image, "@")
	name := filepath.Base(minorTag.ReplaceAllString(base, ""))
	if len(command) > 0 {
		name = filepath.Base(command[0])
	}
	if name != "etcd" {
		return name
	}
	minor := "of no version"
	if found := minorTag.FindStringSubmatch(base); found != nil {
		minor = found[1]
	}
	return name + " " + minor
}
