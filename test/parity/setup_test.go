package parity

import (
	"context"
	"errors"
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/parity"
	"github.com/quorate/quorate/test/world"
)

// setup stores the pairs' old objects, while no layer is on.
type setup struct {
	admin  dynamic.Interface
	people people
	trials []*trial
	// leftOut counts the pairs that the API server cannot have, by reason.
	leftOut map[leftOut]int
}

// leftOut is why a pair cannot be had at an API server, whatever the layers say.
type leftOut string

func (l leftOut) Error() string { return string(l) }

// deleted: such an object would be gone at once.
const deleted leftOut = "the old object is being deleted and has no finalizer"

func newSetup(ctx context.Context, w *world.World) (*setup, error) {
	admin, err := dynamic.NewForConfig(clientConfig(w))
	if err != nil {
		return nil, fmt.Errorf("make the administrator's client: %w", err)
	}
	for number := range uint64(namespaces) {
		made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace(number)}}
		if _, err := w.Client().CoreV1().Namespaces().Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("create a namespace: %w", err)
		}
	}
	people, err := newPeople(ctx, w)
	return &setup{admin: admin, people: people, leftOut: map[leftOut]int{}}, err
}

var errTooFew = errors.New("there are no more pairs")

// fill takes pairs until there are so many trials. In the place of each that is
// left out comes a further one.
func (s *setup) fill(ctx context.Context, count int, pairs iter.Seq[parity.Pair]) error {
	next, stop := iter.Pull(pairs)
	defer stop()
	for len(s.trials) < count {
		batch := make([]parity.Pair, count-len(s.trials))
		for i := range batch {
			var ok bool
			if batch[i], ok = next(); !ok {
				return fmt.Errorf("%w: %d of %d are taken", errTooFew, len(s.trials), count)
			}
		}
		if err := s.takeAll(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

func (s *setup) takeAll(ctx context.Context, batch []parity.Pair) error {
	taken, reasons := make([]*trial, len(batch)), make([]leftOut, len(batch))
	err := inParallel(ctx, len(batch), func(ctx context.Context, i int) (err error) {
		taken[i], err = s.take(ctx, batch[i])
		if errors.As(err, &reasons[i]) {
			return nil
		}
		return err
	})
	for i, t := range taken {
		if t == nil {
			s.leftOut[reasons[i]]++
			continue
		}
		s.trials = append(s.trials, t)
	}
	return err
}

// take stores the old object, and has the API server itself accept the request
// and tell what becomes of the new object.
func (s *setup) take(ctx context.Context, p parity.Pair) (*trial, error) {
	old, err := s.store(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("store the old object of pair %d: %w", p.Number, err)
	}
	t := newTrial(p, old)
	answer, err := s.people.ask(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("send pair %d while no layer is on: %w", p.Number, ownRefusal(err))
	}
	t.received(answer)
	return t, nil
}

// ownRefusal tells refusals by the API server's own validation from failures.
func ownRefusal(err error) error {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || len(status.Status().Details.Causes) == 0 {
		return err
	}
	cause := status.Status().Details.Causes[0]
	return leftOut(fmt.Sprintf("the API server itself refuses %s (%s)", cause.Field, cause.Type))
}

// store creates the old object with its status, in the state of being deleted if
// need be.
func (s *setup) store(ctx context.Context, p parity.Pair) (*unstructured.Unstructured, error) {
	if p.Request.OldObject == nil {
		return nil, nil
	}
	given := p.Request.OldObject["metadata"].(map[string]any)
	if given["deletionTimestamp"] != nil && given["finalizers"] == nil {
		return nil, deleted
	}
	metadata := map[string]any{"name": fmt.Sprintf("it-%d", p.Number), "namespace": namespace(p.Number)}
	copyMetadata(metadata, given)
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(p.Request.OldObject)}
	object.Object["metadata"] = metadata
	at := &cel.Request{Resource: p.Request.Resource, Namespace: namespace(p.Number)}
	return s.write(ctx, resource(s.admin, at), object, given["deletionTimestamp"] != nil)
}

func (s *setup) write(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured, thenDelete bool) (*unstructured.Unstructured, error) {
	made, err := client.Create(ctx, object, metav1.CreateOptions{})
	if status, ok := object.Object["status"]; ok && err == nil {
		made.Object["status"] = status
		made, err = client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	}
	if err == nil && thenDelete {
		if err = client.Delete(ctx, object.GetName(), metav1.DeleteOptions{}); err == nil {
			made, err = client.Get(ctx, object.GetName(), metav1.GetOptions{})
		}
	}
	return made, err
}
