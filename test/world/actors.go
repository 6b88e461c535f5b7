package world

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/dynamic"

	"github.com/quorate/quorate/test/cluster"
)

// The people and programs of a world, by the names that Kubectl takes.
const (
	// Admin is a member of system:masters.
	Admin = "admin"
	// Alice, alice@example.com, may edit all kinds of Quorate and lacks the verb
	// override.
	Alice = "alice"
	// Controller is Quorate's own ServiceAccount, by a token of its own.
	Controller = "controller"
)

// The names that the API server knows them by.
const (
	Namespace         = "quorate-system"
	ServiceAccount    = "quorate-controller"
	AliceUser         = "alice@example.com"
	ControllerUser    = "system:serviceaccount:" + Namespace + ":" + ServiceAccount
	ConfigurationName = "quorate-gate"
	ServiceName       = "quorate-webhook"
	CASecretName      = "quorate-webhook-ca"
)

// errNoActor says that nobody has this name.
var errNoActor = errors.New("no such actor")

// Access is an actor's way into the cluster.
func (w *World) Access(actor string) (*cluster.Access, error) {
	access, ok := w.actors[actor]
	if !ok {
		return nil, fmt.Errorf("%s: %w", actor, errNoActor)
	}
	return access, nil
}

// Kubectl runs kubectl as an actor.
func (w *World) Kubectl(ctx context.Context, actor, stdin string, args ...string) (cluster.Result, error) {
	access, err := w.Access(actor)
	if err != nil {
		return cluster.Result{}, err
	}
	return w.KubectlInput(ctx, access.Kubeconfig, stdin, args...)
}

// AddActor makes a user known by a short name, with a ClusterRole in every
// namespace, or without any rights if the role is empty.
func (w *World) AddActor(ctx context.Context, actor, user, clusterRole string) error {
	access, err := w.AddUser(user)
	if err != nil {
		return err
	}
	if clusterRole != "" {
		if err := w.Apply(ctx, binding(actor, user, clusterRole)); err != nil {
			return fmt.Errorf("give %s the ClusterRole %s: %w", actor, clusterRole, err)
		}
	}
	return w.enter(actor, access)
}

func binding(name, user, clusterRole string) string {
	return fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: world-%s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]
`, name, clusterRole, user)
}

func (w *World) enter(actor string, access *cluster.Access) error {
	client, err := dynamic.NewForConfig(access.Config)
	if err != nil {
		return fmt.Errorf("make the client of %s: %w", actor, err)
	}
	w.actors[actor], w.dynamic[actor] = access, client
	return nil
}
