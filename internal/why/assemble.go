package why

import (
	"fmt"
	"slices"
)

// layers in the order in which they are shown. Those in always have a row.
var (
	layers = []Layer{LayerServer, LayerAuthentication, LayerRBAC, LayerAdmission, LayerStorage,
		LayerSchema, LayerCRD, LayerVAP, LayerWebhook, LayerQuota}
	always = []Layer{LayerRBAC, LayerSchema, LayerCRD, LayerVAP, LayerWebhook}
)

// Assemble puts the server's answer and the computed layers together, in the
// order in which the server asks them. refusals is nil where the server allowed
// the change; computed is nil for a kind that is not judged here.
func Assemble(refusals []Row, computed map[Layer][]Row) []Row {
	depth := refusedAt(refusals)
	var rows []Row
	for _, layer := range layers {
		said := at(refusals, layer)
		rows = append(rows, said...)
		if slices.ContainsFunc(said, judged) || !shown(layer, computed) {
			continue
		}
		if place(layer) < depth {
			rows = append(rows, passedServer(layer, computed[layer]))
			continue
		}
		rows = append(rows, behind(layer, refusals, computed[layer])...)
	}
	return rows
}

// judged reports whether the row is our own layer's verdict. A webhook that could
// not be asked has given none.
func judged(r Row) bool {
	return ours(r) && !(r.Layer == LayerWebhook && r.Verdict == Error && r.Rule == "")
}

func at(refusals []Row, layer Layer) []Row {
	var rows []Row
	for _, r := range refusals {
		if r.Layer == layer {
			rows = append(rows, r)
		}
	}
	return rows
}

// shown: of a kind that is not judged here, its CRD rules cannot be told from its
// schema.
func shown(layer Layer, computed map[Layer][]Row) bool {
	return slices.Contains(always, layer) && (layer != LayerCRD || computed != nil)
}

func place(layer Layer) int { return slices.Index(layers, layer) }

// refusedAt is the place of the first layer that the server may not have got
// past; it is behind all of them when the change was allowed. A webhook of others
// may be a mutating one, which is asked before the schema.
func refusedAt(refusals []Row) int {
	depth := len(layers)
	for _, r := range refusals {
		where := place(r.Layer)
		if r.Layer == LayerWebhook && !ours(r) {
			where = place(LayerAdmission)
		}
		depth = min(depth, where)
	}
	return depth
}

// passedServer is the row of a layer that let the change pass. Where this version
// would have refused, the layer is not installed or another version is.
func passedServer(layer Layer, computed []Row) Row {
	row := Row{Layer: layer, Verdict: Allow, Source: FromServer}
	for _, c := range computed {
		if c.Verdict == Deny || c.Verdict == Error {
			row.Message = fmt.Sprintf("passed, though this version's rule %s refuses it: %s Is the layer installed? See quorate doctor.", c.Rule, c.Message)
			break
		}
	}
	return row
}

// behind is what a layer that the server may not have got to would say. A rule
// that fails on an object whose schema is wrong says nothing.
func behind(layer Layer, refusals, computed []Row) []Row {
	wrong := len(at(refusals, LayerSchema)) > 0
	if len(computed) == 0 {
		return []Row{{Layer: layer, Verdict: NotReached, Source: FromServer}}
	}
	if wrong && slices.ContainsFunc(computed, func(r Row) bool { return r.Verdict == Error }) {
		return []Row{{Layer: layer, Verdict: NotReached, Source: FromServer, Message: "to be judged once the schema accepts the object"}}
	}
	return computed
}
