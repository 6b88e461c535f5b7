package restore

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
)

var (
	// ErrNewerMarker: a later version of Quorate wrote the marker. It is left alone.
	ErrNewerMarker = errors.New("the marker is of a newer Quorate")
	// ErrMarker: the marker cannot be read.
	ErrMarker = errors.New("the marker of the restore cannot be read")
	// ErrNoMarker: there is no marker.
	ErrNoMarker = errors.New("there is no marker of a restore")
)

// Encode writes the marker as it is stored.
func (m *Marker) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the marker of the restore: %w", err)
	}
	return append(data, '\n'), nil
}

// Decode reads a marker: ErrNewerMarker for a schema that this version does not know,
// ErrMarker for what is none. Fields that are not known, such as the reason of earlier
// forms, are passed over.
func Decode(data []byte) (*Marker, error) {
	var m Marker
	if err := json.Unmarshal(data, &m); err != nil {
		var head struct{ Schema int }
		if json.Unmarshal(data, &head) == nil && head.Schema > Schema {
			return nil, newer(head.Schema, "")
		}
		return nil, fmt.Errorf("%w: %w", ErrMarker, err)
	}
	if m.Schema > Schema {
		return nil, newer(m.Schema, m.Quorate)
	}
	return &m, m.check()
}

func newer(schema int, version string) error {
	if version == "" {
		version = "a later version"
	}
	return fmt.Errorf("%w: it has schema %d, written by %s, and this version knows schema %d; let that version finish the restore",
		ErrNewerMarker, schema, version, Schema)
}

var steps = []v1alpha1.RestoreStep{v1alpha1.StepWiping, v1alpha1.StepRecovering, v1alpha1.StepRejoining, v1alpha1.StepReconciling}

func (m *Marker) check() error {
	switch {
	case m.Schema < 1 || m.Cluster == "":
		return fmt.Errorf("%w: schema or cluster is missing", ErrMarker)
	case !slices.Contains(steps, m.Step):
		return fmt.Errorf("%w: %q is no step", ErrMarker, m.Step)
	case m.Node(m.Target) == nil:
		return fmt.Errorf("%w: the target %q is not among its nodes", ErrMarker, m.Target)
	}
	if !IsPinned(m.Pinned.Object()) {
		return fmt.Errorf("%w: %q is not the name of a restore's copy", ErrMarker, m.Pinned.Name)
	}
	if m.Pinned.Floor < 1 {
		return fmt.Errorf("%w: it says no revision that only the recovered etcd has", ErrMarker)
	}
	if m.LimitsFrom.IsZero() {
		m.LimitsFrom = m.StartedAt
	}
	return nil
}

// Endpoints are where the control planes' machine API is.
func (m *Marker) Endpoints() (out []string) {
	for _, n := range m.Nodes {
		if n.ControlPlane() {
			out = append(out, n.Address)
		}
	}
	return out
}

// Node is the node of a machine, to read and change; nil if there is none.
func (m *Marker) Node(machine string) *Node {
	i := slices.IndexFunc(m.Nodes, func(n Node) bool { return n.Machine == machine })
	if i < 0 {
		return nil
	}
	return &m.Nodes[i]
}
