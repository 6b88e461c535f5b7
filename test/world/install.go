package world

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/test/cluster"
)

// install puts everything in but the Deployment: there is no node for its pods,
// and the managers are processes of ours.
func (w *World) install(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		w.installRules, w.applyNamespace, w.kustomize("apply", "rbac"), w.enterActors, w.applyFixtures, w.installWebhook, w.kustomize("apply", "policy"),
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// kustomize applies or deletes a folder of manifests/.
func (w *World) kustomize(verb, folder string) func(context.Context) error {
	dir := filepath.Join(w.Root, "manifests", folder)
	if verb == "apply" {
		return func(ctx context.Context) error { return w.ApplyKustomize(ctx, dir) }
	}
	return func(ctx context.Context) error {
		return w.admin(ctx, "", verb, "-k", dir, "--ignore-not-found")
	}
}

// admin runs kubectl as the administrator and wants it to succeed.
func (w *World) admin(ctx context.Context, stdin string, args ...string) error {
	result, err := w.KubectlInput(ctx, w.Admin().Kubeconfig, stdin, args...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), cluster.ErrRefused, result.Stderr)
	}
	return err
}

func (w *World) enterActors(ctx context.Context) error {
	if err := w.enter(Admin, w.Admin()); err != nil {
		return err
	}
	if err := w.AddActor(ctx, Alice, AliceUser, "quorate-editor"); err != nil {
		return err
	}
	access, err := w.ServiceAccount(ctx, Namespace, ServiceAccount)
	if err != nil {
		return err
	}
	return w.enter(Controller, access)
}

func (w *World) applyNamespace(ctx context.Context) error {
	file := filepath.Join(w.Root, "manifests", "manager", "namespace.yaml")
	return w.admin(ctx, "", "apply", "--server-side", "-f", file)
}

func (w *World) applyFixtures(ctx context.Context) error { return w.Apply(ctx, fixtures) }

// enforceFirst switches the layers off that the options leave out.
func (w *World) enforceFirst(ctx context.Context) error {
	return w.Enforce(ctx, slices.DeleteFunc(slices.Clone(AllLayers), func(l cel.Layer) bool {
		return slices.Contains(w.options.Without, l)
	})...)
}
