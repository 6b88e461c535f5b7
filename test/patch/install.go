package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/test/world"
)

// install brings one side into effect after the other, and waits for each. The
// order is the proof that no side acts in another's namespace: before there are
// policies nobody but the gate could refuse, and a policy would refuse first.
func install(ctx context.Context, w *world.World, allow *allowProcess, sides []*side) error {
	for _, s := range sides {
		if err := s.prepare(ctx, w); err != nil {
			return err
		}
	}
	if err := limitGate(ctx, w, sides[0].namespace); err != nil {
		return err
	}
	if err := settle(ctx, "the gate's answers", sides, gate); err != nil {
		return err
	}
	if err := installPolicies(ctx, w, sides[3].namespace); err != nil {
		return err
	}
	if err := installAllow(ctx, w, allow, sides[2].namespace); err != nil {
		return err
	}
	return settle(ctx, "every side's answers", sides, gate, policies)
}

// prepare makes the side's namespace and its Etcd.
func (s *side) prepare(ctx context.Context, w *world.World) error {
	if err := w.Apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---"+etcd, s.namespace, s.namespace)); err != nil {
		return err
	}
	if err := s.request(s.controller, status, "status").Do(ctx).Error(); err != nil {
		return fmt.Errorf("write the status in %s: %w", s.namespace, err)
	}
	return nil
}

func only(namespace string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
}

// limitGate adds to the shipped configuration where the gate is asked.
func limitGate(ctx context.Context, w *world.World, namespace string) error {
	patch, err := json.Marshal(map[string]any{"webhooks": []any{map[string]any{"name": "gate.quorate.dev", "namespaceSelector": only(namespace)}}})
	if err != nil {
		return fmt.Errorf("limit the gate: %w", err)
	}
	client := w.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := client.Patch(ctx, world.ConfigurationName, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("limit the gate: %w", err)
	}
	return nil
}

// installPolicies applies the shipped policies and limits their bindings.
func installPolicies(ctx context.Context, w *world.World, namespace string) error {
	if err := w.ApplyKustomize(ctx, filepath.Join(w.Root, "manifests", "policy")); err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"matchResources": map[string]any{"namespaceSelector": only(namespace)}}})
	if err != nil {
		return fmt.Errorf("limit the policies: %w", err)
	}
	client := w.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	bindings, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("limit the policies: %w", err)
	}
	for _, b := range bindings.Items {
		if _, err := client.Patch(ctx, b.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("limit the policies: %w", err)
		}
	}
	return nil
}

// allowManifest reaches the webhook by the gate's way, a Service and TLS. It has
// no match condition: what the API server spends on the gate's is the gate's cost.
const allowManifest = `
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: %[2]s}
spec: {ports: [{port: 443}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: allow-everything.example.com
  admissionReviewVersions: [v1]
  failurePolicy: Fail
  sideEffects: None
  timeoutSeconds: 5
  clientConfig:
    service: {name: %[1]s, namespace: %[2]s, path: /, port: 443}
    caBundle: %[3]s
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[4]s}}
  rules:
  - {apiGroups: [quorate.dev], apiVersions: [v1alpha1], operations: [CREATE, UPDATE], resources: [etcds]}
`

func installAllow(ctx context.Context, w *world.World, allow *allowProcess, namespace string) error {
	w.SetBackends(allowNamespace, allowService, allow.Address)
	ca := base64.StdEncoding.EncodeToString(allow.CA)
	return w.Apply(ctx, fmt.Sprintf(allowManifest, allowService, allowNamespace, ca, namespace))
}
