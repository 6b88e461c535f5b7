package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/test/world"
)

// refuser is who turns a forbidden change down.
type refuser string

const (
	nobody   refuser = "nobody"
	gate     refuser = "the gate"
	policies refuser = "the policies"
	unknown  refuser = "somebody else"
)

// side is one way of admission. Each has a namespace, in which it alone acts.
type side struct {
	Name string `json:"name"`
	// Micros are the latencies in their order, in microseconds. The nth of all
	// sides were measured together.
	Micros []float64 `json:"micros"`

	namespace string
	// What a dry run in the namespace shows when everything is in place.
	refuses refuser
	warns   bool

	person, controller rest.Interface
	turn               int
}

// newSides are the four, ours first. The person who patches is no exempt one.
func newSides(w *world.World) ([]*side, error) {
	sides := []*side{
		{Name: "gate", namespace: "bench-gate", refuses: gate},
		{Name: "no webhook", namespace: "bench-none", refuses: nobody},
		{Name: "webhook that allows everything", namespace: "bench-allow", refuses: nobody, warns: true},
		{Name: "policies", namespace: "bench-policies", refuses: policies},
	}
	person, err := client(w, world.Alice)
	if err != nil {
		return nil, err
	}
	controller, err := client(w, world.Controller)
	if err != nil {
		return nil, err
	}
	for _, s := range sides {
		s.person, s.controller = person, controller
	}
	return sides, nil
}

// client reads no answer but its status, so that little of the time is its own.
func client(w *world.World, actor string) (rest.Interface, error) {
	access, err := w.Access(actor)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(access.Config)
	config.WarningHandler = rest.NoWarnings{} // those of the proof are read there
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the client of %s: %w", actor, err)
	}
	return c.Discovery().RESTClient(), nil
}

// etcd is busy scaling in.
const etcd = `
apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: main, namespace: %s}
spec:
  replicas: 3
  etcd:
    bootstrapWithExistingCluster:
      clientEndpoints: ["https://source.example.com:2379"]
      members:
      - {name: src-0, peerURLs: ["https://src-0.example.com:2380"]}
      - {name: src-1, peerURLs: ["https://src-1.example.com:2380"]}
`

const status = `{"status":{"replicas":3,"conditions":[
{"type":"Ready","status":"True","reason":"Quorate","message":"ok","lastTransitionTime":"2026-01-01T00:00:00Z"},
{"type":"ScaleOperationInProgress","status":"True","reason":"ScalingIn","message":"ok","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`

// permitted turn the bootstrap list round and back: while a scale-in runs the
// rules compare every member, and find that none is missing.
var permitted = [2]string{members("src-1", "src-0"), members("src-0", "src-1")}

// forbidden would scale out meanwhile.
const forbidden = `{"spec":{"replicas":5}}`

func members(first, second string) string {
	return fmt.Sprintf(`{"spec":{"etcd":{"bootstrapWithExistingCluster":{"members":[`+
		`{"name":%[1]q,"peerURLs":["https://%[1]s.example.com:2380"]},{"name":%[2]q,"peerURLs":["https://%[2]s.example.com:2380"]}]}}}}`, first, second)
}

// request is a PATCH of the side's Etcd, or of a subresource.
func (s *side) request(c rest.Interface, patch string, subresource ...string) *rest.Request {
	path := append([]string{"/apis/quorate.dev/v1alpha1/namespaces", s.namespace, "etcds", "main"}, subresource...)
	return c.Patch(types.MergePatchType).AbsPath(path...).Body([]byte(patch))
}

// patch makes the next permitted change.
func (s *side) patch(ctx context.Context) error {
	body := permitted[s.turn%len(permitted)]
	s.turn++
	if _, err := s.request(s.person, body).DoRaw(ctx); err != nil {
		return fmt.Errorf("patch with %s: %w", s.Name, err)
	}
	return nil
}
