package main

import (
	"path/filepath"
	"strings"
)

// storePlan answers what an object store needs: VersityGW, which keeps buckets in
// folders and holds to conditional writes.
func storePlan(root string) (*plan, error) {
	module := filepath.Join(root, "test", "tools", "versitygw")
	version, err := pinned(module, "github.com/versity/versitygw")
	if err != nil {
		return nil, err
	}
	return &plan{
		dir: filepath.Join(root, "bin", "versitygw-"+strings.TrimPrefix(version, "v")),
		targets: []target{{
			name: "versitygw", version: version, module: module,
			pkg: "github.com/versity/versitygw/cmd/versitygw", flags: []string{"-ldflags=-s -w"},
		}},
	}, nil
}
