package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/test/cluster"
)

// probeNamespace holds what the probes change, by dry runs alone.
const probeNamespace = "quorate-probe"

// probe is a request that one rule turns away. By the answer's form we see
// which layer gave it: the only proof that the API server has taken over a CRD,
// a policy or a webhook configuration, which it does a moment after each was
// accepted.
type probe struct {
	rule     string
	resource string
	actor    string
	// create is an object to create; else patch is a merge patch of the
	// subresource of the fixture called probe.
	create, patch, subresource string
}

// probes are such that together they show each layer, whichever are on.
var probes = []probe{
	{rule: "bootstrap-names-unique", resource: "etcds", create: `{kind: Etcd, spec: {replicas: 1, etcd: {bootstrapWithExistingCluster: {clientEndpoints: ["http://a.example.com:2379"], members: [{name: a, peerURLs: ["http://a.example.com:2380"]}, {name: a, peerURLs: ["http://b.example.com:2380"]}]}}}}`},
	{rule: "status-is-ours", resource: "etcds", patch: `{"status":{"replicas":0,"clusterID":"bad"}}`, subresource: "status"},
	{rule: "control-plane-count", resource: "talosclusters", create: `{kind: TalosCluster, spec: {endpoint: "https://a.example.com:6443", controlPlane: {count: 2}, secretsBundleRef: {name: a}}}`},
	{rule: "machine-role-immutable", resource: "talosmachines", patch: `{"spec":{"role":"controlplane"}}`},
	{rule: "backup-cluster-immutable", resource: "talosetcdbackups", patch: `{"spec":{"clusterRef":{"name":"b"}}}`},
	{rule: "operation-kind-known", resource: "talosoperations", create: `{kind: TalosOperation, spec: {kind: etcd-defrag, clusterRef: {name: a}}}`},
	{rule: "restore-needs-override", resource: "talosoperations", actor: Alice, create: restoreProbe},
	{rule: "restore-backup-of-cluster", resource: "talosoperations", create: restoreProbe},
}

const restoreProbe = `{kind: TalosOperation, spec: {kind: etcd-restore, clusterRef: {name: a}, etcdRestore: {backupRef: {name: nowhere}, snapshot: etcd-20300102T150405Z.snapshot.age, confirm: a}}}`

// fixtures are the objects that probes patch.
const fixtures = `apiVersion: v1
kind: Namespace
metadata: {name: ` + probeNamespace + `}
---
apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: probe, namespace: ` + probeNamespace + `}
spec: {replicas: 1}
---
apiVersion: quorate.dev/v1alpha1
kind: TalosMachine
metadata: {name: probe, namespace: ` + probeNamespace + `, annotations: {quorate.dev/allow-delete: "true"}}
spec: {clusterRef: {name: a}, role: worker, endpoint: a.example.com}
---
apiVersion: quorate.dev/v1alpha1
kind: TalosEtcdBackup
metadata: {name: probe, namespace: ` + probeNamespace + `}
spec: {clusterRef: {name: a}, schedule: "@daily", objectStore: {bucket: probe, credentialsRef: {name: a}}}
`

// nobody answers a probe that goes through.
const nobody cel.Layer = "nobody"

// answersBy waits until each probe is answered by the first of the layers that
// knows its rule.
func (w *World) answersBy(ctx context.Context, layers []cel.Layer) error {
	for _, p := range probes {
		want, err := w.first(p.rule, layers)
		if err != nil {
			return err
		}
		err = cluster.Until(ctx, fmt.Sprintf("the answer to a request against %s by %s", p.rule, want), func(ctx context.Context) error {
			if got, text := w.ask(ctx, p); got != want {
				return fmt.Errorf("it is answered by %s: %s", got, text)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errNoRule says that a probe is out of date.
var errNoRule = errors.New("the catalogue has no such rule")

// first is the layer that the API server asks first.
func (w *World) first(id string, layers []cel.Layer) (cel.Layer, error) {
	rule, ok := w.catalogue.Rule(id)
	if !ok {
		return "", fmt.Errorf("probe %s: %w", id, errNoRule)
	}
	for _, layer := range []cel.Layer{cel.LayerCRD, cel.LayerVAP, cel.LayerWebhook} {
		if slices.Contains(layers, layer) && rule.In(layer) {
			return layer, nil
		}
	}
	return nobody, nil
}

// ask sends the probe and answers who refused it, and in what words.
func (w *World) ask(ctx context.Context, p probe) (cel.Layer, string) {
	actor := p.actor
	if actor == "" {
		actor = Admin
	}
	err := w.send(ctx, actor, p)
	if err == nil {
		return nobody, "it went through"
	}
	return answerer(err, p.rule), err.Error()
}

func (w *World) send(ctx context.Context, actor string, p probe) error {
	client := w.dynamic[actor].Resource(v1alpha1.GroupVersion.WithResource(p.resource)).Namespace(probeNamespace)
	if p.create == "" {
		_, err := client.Patch(ctx, "probe", types.MergePatchType, []byte(p.patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, subresources(p.subresource)...)
		return err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(p.create), &object.Object); err != nil {
		return fmt.Errorf("read the probe of %s: %w", p.rule, err)
	}
	object.SetAPIVersion(v1alpha1.GroupVersion.String())
	object.SetGenerateName("probe-")
	_, err := client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func subresources(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// unknown answers a probe with anything but a refusal by its rule.
const unknown cel.Layer = "something else"

// answerer tells the layers apart. kubectl prints the webhook's refusals as the
// CRD's on purpose; the status on the wire has the webhook's name.
func answerer(err error, rule string) cel.Layer {
	text := err.Error()
	switch {
	case !strings.Contains(text, "("+rule+")"):
		return unknown
	case strings.Contains(text, "ValidatingAdmissionPolicy '"):
		return cel.LayerVAP
	case strings.Contains(text, `admission webhook "`):
		return cel.LayerWebhook
	case apierrors.IsInvalid(err):
		return cel.LayerCRD
	}
	return unknown
}
