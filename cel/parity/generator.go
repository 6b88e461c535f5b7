package parity

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/quorate/quorate/cel"
)

// Pair is a request with an old and a new object.
type Pair struct {
	// Number identifies the pair: the same generator gives the same pair again.
	Number uint64
	// AsSent says that the new object's status is as the user sent it. The API
	// server would have put the old one back, so such a pair cannot be had there.
	AsSent bool
	// ByController says that the requester is the controller.
	ByController bool
	// Sent is the new object as the user sends it, with nulls, unknown fields and
	// a status; nil for a deletion. It shares values with the request's objects.
	Sent    map[string]any
	Request *cel.Request
}

// Generator makes pairs. It is immutable and safe for concurrent use.
type Generator struct {
	seed       uint64
	controller string
	kinds      []*kind
}

type kind struct {
	resource, apiVersion, name string
	scale                      bool
	root                       *node
	schema                     *schema.Structural
	spec, status               [][]string // see focus
}

// NewGenerator reads the stored version of each CRD. An error names the schema
// node that it cannot make values for. The controller's user name is among the
// requesters.
func NewGenerator(crds []*apiextensionsv1.CustomResourceDefinition, controller string, seed uint64) (*Generator, error) {
	g := &Generator{seed: seed, controller: controller}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if !version.Storage {
				continue
			}
			k, err := newKind(crd, version)
			if err != nil {
				return nil, fmt.Errorf("read schema of %s: %w", crd.Name, err)
			}
			g.kinds = append(g.kinds, k)
		}
	}
	if len(g.kinds) == 0 {
		return nil, errors.New("no CRD to make objects of")
	}
	return g, nil
}

func newKind(crd *apiextensionsv1.CustomResourceDefinition, version apiextensionsv1.CustomResourceDefinitionVersion) (*kind, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	root, err := compile(structural, "")
	if err != nil {
		return nil, err
	}
	root = withoutMeta(root)
	return &kind{
		resource: crd.Spec.Names.Plural, name: crd.Spec.Names.Kind, apiVersion: crd.Spec.Group + "/" + version.Name,
		scale: version.Subresources != nil && version.Subresources.Scale != nil, root: root, schema: structural,
		spec: focus(root, "spec"), status: focus(root, "status"),
	}, nil
}

// withoutMeta leaves what the API server itself fills in to newMeta.
func withoutMeta(root *node) *node {
	root.properties = slices.DeleteFunc(root.properties, func(p property) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata"}, p.name)
	})
	return root
}

// Pairs gives the first so many pairs that are kept; nil keeps all.
func (g *Generator) Pairs(count int, keep func(Pair) bool) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for number, left := uint64(0), count; left > 0; number++ {
			p := g.Pair(number)
			if keep != nil && !keep(p) {
				continue
			}
			if left--; !yield(p) {
				return
			}
		}
	}
}

// Pair makes the pair of a number.
func (g *Generator) Pair(number uint64) Pair {
	m := maker{rand.New(rand.NewPCG(g.seed, number))}
	k := g.kinds[0]
	if m.chance(0.5) { // the first kind has most of the rules
		k = pick(m, g.kinds)
	}
	p := Pair{Number: number, Request: &cel.Request{
		Operation: m.operation(), Resource: k.resource, Namespace: "ns", Name: "it",
		User: m.user(g.controller), Authorizer: overrides{},
	}}
	p.ByController = p.Request.User.Username == g.controller
	switch p.Request.Operation {
	case cel.Create:
		p.Sent = k.new(m)
		p.Request.Object = k.decoded(withPart(p.Sent, nil, "status"))
	case cel.Delete:
		p.Request.OldObject = k.decoded(k.new(m))
	default:
		g.update(m, k, &p)
	}
	return p
}

// update: what is asked for is decoded, then stored as its subresource allows.
func (g *Generator) update(m maker, k *kind, p *Pair) {
	r := p.Request
	r.Subresource, r.DryRun = m.subresource(k), m.chance(0.1)
	r.OldObject = k.decoded(k.new(m))
	p.Sent = k.changed(m, r.OldObject, r.Subresource)
	asked := k.decoded(p.Sent)
	if p.AsSent = r.Subresource == cel.Main && m.chance(0.1); p.AsSent {
		r.Object = asked
		return
	}
	r.Object = stored(r.Subresource, asked, r.OldObject)
}

// focus lists the paths that rules are about, of spec or of status; a change goes
// there more often than elsewhere.
func focus(root *node, part string) [][]string {
	var out [][]string
	for _, path := range slices.Sorted(maps.Keys(hints)) {
		path, _, _ = strings.Cut(path, "[*]")
		steps := strings.Split(path, ".")
		if steps[0] == part && root.has(steps) {
			out = append(out, steps)
		}
	}
	return out
}

func (n *node) has(path []string) bool {
	if len(path) == 0 {
		return true
	}
	p, ok := n.property(path[0])
	return ok && p.node.has(path[1:])
}
