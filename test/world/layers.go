package world

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionregistration "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/manifests"
)

// AllLayers are the layers of an ordinary installation.
var AllLayers = []cel.Layer{cel.LayerCRD, cel.LayerWebhook, cel.LayerVAP}

// Enforce switches exactly these layers on, and waits until the API server
// answers accordingly. A switched-off CRD layer is the same CRDs without rules;
// the other two are deleted.
func (w *World) Enforce(ctx context.Context, layers ...cel.Layer) error {
	steps := []struct {
		layer   cel.Layer
		on, off func(context.Context) error
	}{
		{cel.LayerCRD, w.installRules, w.stripRules},
		{cel.LayerVAP, w.kustomize("apply", "policy"), w.kustomize("delete", "policy")},
		{cel.LayerWebhook, w.installWebhook, w.removeWebhook},
	}
	for _, step := range steps {
		change := step.off
		if slices.Contains(layers, step.layer) {
			change = step.on
		}
		if err := change(ctx); err != nil {
			return fmt.Errorf("switch the layer %s: %w", step.layer, err)
		}
	}
	return w.answersBy(ctx, layers)
}

// installWebhook applies the configuration as it is shipped, or puts the one back
// that removeWebhook took away: with its certificate authority in it, which the
// managers would set only at their next look.
func (w *World) installWebhook(ctx context.Context) error {
	if w.configuration == nil {
		return w.kustomize("apply", "webhook")(ctx)
	}
	_, err := w.configurations().Create(ctx, w.configuration, metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		w.configuration = nil
		return nil
	}
	return fmt.Errorf("put the webhook configuration back: %w", err)
}

func (w *World) removeWebhook(ctx context.Context) error {
	found, err := w.configurations().Get(ctx, ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep the webhook configuration: %w", err)
	}
	w.configuration = &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: found.Name, Labels: found.Labels, Annotations: found.Annotations},
		Webhooks:   found.Webhooks,
	}
	if err := w.configurations().Delete(ctx, ConfigurationName, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete the webhook configuration: %w", err)
	}
	return nil
}

func (w *World) configurations() admissionregistration.ValidatingWebhookConfigurationInterface {
	return w.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
}

func (w *World) installRules(ctx context.Context) error {
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return err
	}
	return w.InstallCRDs(ctx, crds...)
}

func (w *World) stripRules(ctx context.Context) error {
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return err
	}
	for _, crd := range crds {
		for i := range crd.Spec.Versions {
			strip(crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
	}
	return w.InstallCRDs(ctx, crds...)
}

// strip takes the rules out of a schema and all below it.
func strip(s *apiextensionsv1.JSONSchemaProps) {
	if s == nil {
		return
	}
	s.XValidations = nil
	for name, property := range s.Properties {
		strip(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		strip(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		strip(s.AdditionalProperties.Schema)
	}
}
