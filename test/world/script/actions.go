package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/test/cluster"
)

// Stage is the world that a script is played in.
type Stage interface {
	// Kubectl runs kubectl as one of the actors.
	Kubectl(ctx context.Context, actor, stdin string, args ...string) (cluster.Result, error)
	// Enforce switches exactly these layers on and waits until the API server
	// answers accordingly.
	Enforce(ctx context.Context, layers ...cel.Layer) error
	// StopManagers ends all replicas; StartManagers starts them again and waits
	// until the API server reaches them.
	StopManagers(ctx context.Context) error
	StartManagers(ctx context.Context) error
}

// Action is something that happens between two commands.
type Action interface {
	Do(ctx context.Context, stage Stage) error
	fmt.Stringer
}

// Records is a status that the controller writes, in the place of the one that
// was there. This gate judges by the recorded status alone, so the
// script writes what a controller would have found.
type Records struct {
	Object string // kind/name
	What   string // in words
	Status any
}

// String tells it.
func (r Records) String() string {
	return fmt.Sprintf("the controller records on %s: %s", r.Object, r.What)
}

// Do writes it under the controller's identity.
func (r Records) Do(ctx context.Context, stage Stage) error {
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/status", "value": r.Status}})
	if err != nil {
		return fmt.Errorf("encode the status of %s: %w", r.Object, err)
	}
	result, err := stage.Kubectl(ctx, string(Controller), "",
		"patch", r.Object, "--subresource=status", "--type=json", "-p", string(patch))
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("record the status of %s: %w: %s", r.Object, cluster.ErrRefused, result.Stderr)
	}
	return err
}

// Enforces switches the layers on that it lists, and all others off.
type Enforces []cel.Layer

// Do switches.
func (e Enforces) Do(ctx context.Context, stage Stage) error { return stage.Enforce(ctx, e...) }

// String tells it.
func (e Enforces) String() string {
	if len(e) == 0 {
		return "all three layers are switched off"
	}
	var names []string
	for _, layer := range e {
		names = append(names, layerNames[layer])
	}
	return "now on: " + strings.Join(names, ", ")
}

var layerNames = map[cel.Layer]string{
	cel.LayerCRD:     "the rules in the CRDs",
	cel.LayerWebhook: "the webhook",
	cel.LayerVAP:     "the ValidatingAdmissionPolicies",
}

// Stops ends the manager.
type Stops struct{}

// Do ends it.
func (Stops) Do(ctx context.Context, stage Stage) error { return stage.StopManagers(ctx) }

// String tells it.
func (Stops) String() string { return "the manager is stopped" }

// Starts brings the manager back.
type Starts struct{}

// Do starts it.
func (Starts) Do(ctx context.Context, stage Stage) error { return stage.StartManagers(ctx) }

// String tells it.
func (Starts) String() string { return "the manager is started again" }
