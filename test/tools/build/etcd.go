package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// etcdPlans answers what each minor of etcd needs; "all" is every minor that has
// a tool module, in the order of its folder's name.
func etcdPlans(root, minor string, wrapped bool) ([]*plan, error) {
	minors := []string{minor}
	if minor == allMinors {
		var err error
		if minors, err = etcdMinors(filepath.Join(root, "test", "tools")); err != nil {
			return nil, err
		}
	}
	var plans []*plan
	for _, minor := range minors {
		p, err := etcdPlan(root, minor)
		if err != nil {
			return nil, err
		}
		if wrapped {
			p = wrappedEtcd(root, minor, p)
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// allMinors asks for every minor that has a tool module.
const allMinors = "all"

func etcdMinors(tools string) ([]string, error) {
	folders, err := filepath.Glob(filepath.Join(tools, "etcd-*"))
	if err != nil || len(folders) == 0 {
		return nil, fmt.Errorf("list the tool modules: no etcd-N.N module in %s (%v)", tools, err)
	}
	slices.Sort(folders)
	for i, folder := range folders {
		folders[i] = strings.TrimPrefix(filepath.Base(folder), "etcd-")
	}
	return folders, nil
}

// etcdPlan takes server and etcdutl from one module, which has them of one version.
func etcdPlan(root, minor string) (*plan, error) {
	const server, util = "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/etcdutl/v3"
	module := filepath.Join(root, "test", "tools", "etcd-"+minor)
	version, err := pinned(module, server)
	if err != nil {
		return nil, err
	}
	utilVersion, err := pinned(module, util)
	if err != nil {
		return nil, err
	}
	flags := []string{"-ldflags=-s -w"}
	return &plan{
		dir: filepath.Join(root, "bin", "etcd-"+strings.TrimPrefix(version, "v")),
		targets: []target{
			{name: "etcd", version: version, module: module, pkg: server, flags: flags},
			{name: "etcdutl", version: utilVersion, module: module, pkg: util, flags: flags},
		},
	}, nil
}
