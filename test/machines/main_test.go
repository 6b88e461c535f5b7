package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

// grace is how long a member may be unexplained before the audit acts.
const grace = 3 * time.Second

// shared is the world of all tests; admin and controller are uncached clients of it.
// Admission does not look at what the controller does.
var (
	shared     *world.World
	admin      client.WithWatch
	controller client.WithWatch
)

func TestMain(m *testing.M) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	shared, err = world.Start(ctx, world.Options{
		Cluster: cluster.Options{ControllerManager: true}, Controllers: true,
		ManagerFlags: []string{"--unknown-member-grace=" + grace.String()},
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	if err := dial(); err != nil {
		return 1, err
	}
	if err := shared.Apply(ctx, mayDelete); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, endControllers()) }()
	if err := divide(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// dial makes the clients.
func dial() (err error) {
	if admin, err = clientOf(shared.AdminConfig()); err != nil {
		return err
	}
	access, err := shared.Access(world.Controller)
	if err != nil {
		return err
	}
	controller, err = clientOf(access.Config)
	return err
}

func clientOf(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// mayDelete lets a test delete a machine as the controller: that is a deletion that
// admission does not judge, as one that it could not judge with what is known later.
const mayDelete = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: test-delete-machines}
rules: [{apiGroups: [quorate.dev], resources: [talosmachines], verbs: [delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: test-delete-machines}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: test-delete-machines}
subjects: [{kind: ServiceAccount, name: ` + world.ServiceAccount + `, namespace: ` + world.Namespace + `}]
`
