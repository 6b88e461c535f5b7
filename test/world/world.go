// Package world is the installed product on a control plane of this machine:
// CRDs, RBAC, policies and webhook configuration as they are shipped, and
// managers that run as processes under the token of their own ServiceAccount.
//
// The demonstration, `make up` and the end-to-end tests share it.
package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/dynamic"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/node"
	"github.com/quorate/quorate/test/product"
)

// Options say what world to start. The zero value is an ordinary installation
// with one manager.
type Options struct {
	// Cluster is the control plane.
	Cluster cluster.Options
	// Managers is their number, 1 if it is 0. More than one are reached in turn.
	Managers int
	// Controllers lets the managers run the controllers besides the gate. Without it
	// an object's status is the test's own.
	Controllers bool
	// Nodes plays nodes for the members' pods, and lets managers find them by name.
	Nodes bool
	// EtcdMinors can run in the pods: 3.7 if there are none.
	EtcdMinors []string
	// ManagerFlags are further flags of each manager; the last of a name wins.
	ManagerFlags []string
	// Without lists layers that are not installed.
	Without []cel.Layer
	// Binary is the manager's program. Empty builds it from this tree.
	Binary string
	// Progress hears what is being done, a line each. Nil means standard error.
	Progress io.Writer
}

// World is a control plane with Quorate installed. Its methods are not for
// several goroutines at once, except those of the control plane and Kubectl.
type World struct {
	*cluster.Cluster

	// Root is the repository's folder, and Binary the program of the managers.
	Root, Binary string
	// Nodes run the members' pods; nil without Options.Nodes.
	Nodes *node.Kubelets

	options   Options
	catalogue *cel.Catalogue
	actors    map[string]*cluster.Access
	dynamic   map[string]dynamic.Interface
	managers  []*Manager
	// configuration is the webhook configuration while the layer is off.
	configuration *admissionregistrationv1.ValidatingWebhookConfiguration
}

// Start starts the control plane, installs Quorate and waits until the API
// server asks every layer. After an error nothing is left running.
func Start(ctx context.Context, options Options) (*World, error) {
	if options.Progress == nil {
		options.Progress = os.Stderr
	}
	options.Cluster.Progress = options.Progress
	w := &World{options: options, Binary: options.Binary, actors: map[string]*cluster.Access{}, dynamic: map[string]dynamic.Interface{}}
	if err := w.start(ctx); err != nil {
		err = fmt.Errorf("start the world: %w%s", err, w.Logs())
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}

func (w *World) start(ctx context.Context) error {
	steps := []struct {
		what string
		do   func(context.Context) error
	}{
		{"building the manager", w.prepare},
		{"starting the control plane", w.startCluster},
		{"starting the nodes", w.startNodes},
		{"installing Quorate", w.install},
		{"starting the manager", w.StartManagers},
		{"waiting until the API server asks the gate", w.enforceFirst},
	}
	for _, step := range steps {
		_, _ = fmt.Fprintln(w.options.Progress, step.what+" …")
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

func (w *World) prepare(ctx context.Context) (err error) {
	if w.catalogue, err = cel.Load(rules.FS, "."); err != nil {
		return err
	}
	if w.Root, err = product.Root(ctx); err != nil {
		return err
	}
	if w.Binary == "" && !w.options.Nodes {
		w.Binary, err = product.Build(ctx, w.Root, "quorate")
	}
	return err
}

func (w *World) startCluster(ctx context.Context) (err error) {
	w.Cluster, err = cluster.Start(ctx, w.options.Cluster)
	return err
}

// Stop ends the managers, then the control plane. A second call does nothing.
func (w *World) Stop() error {
	var errs []error
	for _, m := range w.managers {
		errs = append(errs, m.Stop())
	}
	w.managers = nil
	if w.Nodes != nil {
		errs = append(errs, w.Nodes.Stop())
	}
	if w.Cluster != nil {
		errs = append(errs, w.Cluster.Stop())
	}
	return errors.Join(errs...)
}

// Logs answers the last lines of every log, for an error or a failing test.
func (w *World) Logs() string {
	if w.Cluster == nil {
		return ""
	}
	var text string
	for _, m := range w.managers {
		text += m.tail()
	}
	return w.Cluster.Logs() + text
}
