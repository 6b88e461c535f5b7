package etcd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// fieldOwner is whom the API server knows the applied fields by.
const fieldOwner = client.FieldOwner("quorate")

// errForeign: an object of that name belongs to somebody else.
var errForeign = errors.New("it is not controlled by this Etcd: rename the Etcd, or remove that object")

// appliedObjects remembers what was applied and what the API server answered, so that
// an object that nobody has changed since costs no request.
type appliedObjects struct {
	mutex   sync.Mutex
	entries map[appliedKey]appliedEntry
}

type appliedKey struct {
	owner types.NamespacedName
	kind  string
	name  string
}

type appliedEntry struct {
	sum     [sha256.Size]byte
	version string
}

func (a *appliedObjects) same(key appliedKey, entry appliedEntry) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return entry.version != "" && a.entries[key] == entry
}

func (a *appliedObjects) keep(key appliedKey, entry appliedEntry) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.entries == nil {
		a.entries = map[appliedKey]appliedEntry{}
	}
	a.entries[key] = entry
}

// forget drops what is remembered of an Etcd that is gone.
func (r *Reconciler) forget(owner types.NamespacedName) {
	r.applied.mutex.Lock()
	defer r.applied.mutex.Unlock()
	for key := range r.applied.entries {
		if key.owner == owner {
			delete(r.applied.entries, key)
		}
	}
	r.Metrics.forget(owner)
}

func (c *cycle) owns(o client.Object) bool { return metav1.IsControlledBy(o, c.etcd) }

// apply makes the object as it is wanted by server-side apply, and tells whether it
// changed. current is an empty object of its type, filled from the cache.
func (c *cycle) apply(ctx context.Context, wanted, current client.Object) (bool, error) {
	kind, name := wanted.GetObjectKind().GroupVersionKind().Kind, wanted.GetName()
	err := c.Client.Get(ctx, client.ObjectKeyFromObject(wanted), current)
	if apierrors.IsNotFound(err) { // the cache has ours alone
		err = c.Live.Get(ctx, client.ObjectKeyFromObject(wanted), current)
	}
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get %s %s: %w", kind, name, err)
	}
	if err == nil && !c.owns(current) {
		return false, fmt.Errorf("%s %s: %w", kind, name, errForeign)
	}
	body, err := bare(wanted)
	if err != nil {
		return false, fmt.Errorf("print %s %s: %w", kind, name, err)
	}
	key := appliedKey{client.ObjectKeyFromObject(c.etcd), kind, name}
	sum := sumOf(body)
	before := current.GetResourceVersion()
	if c.applied.same(key, appliedEntry{sum, before}) {
		return false, nil
	}
	if err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(body), fieldOwner, client.ForceOwnership); err != nil {
		return false, fmt.Errorf("apply %s %s: %w", kind, name, err)
	}
	c.applied.keep(key, appliedEntry{sum, body.GetResourceVersion()})
	return body.GetResourceVersion() != before, nil
}

// bare leaves out what is not ours to say.
func bare(o client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "spec", "template", "metadata", "creationTimestamp")
	claims, _, _ := unstructured.NestedSlice(content, "spec", "volumeClaimTemplates")
	for _, claim := range claims {
		if m, ok := claim.(map[string]any); ok {
			delete(m, "status")
			unstructured.RemoveNestedField(m, "metadata", "creationTimestamp")
		}
	}
	if claims != nil {
		err = unstructured.SetNestedSlice(content, claims, "spec", "volumeClaimTemplates")
	}
	return u, err
}

func sumOf(u *unstructured.Unstructured) [sha256.Size]byte {
	content, err := json.Marshal(u.Object)
	if err != nil {
		return [sha256.Size]byte{} // it was made of an object of ours; the apply says it
	}
	return sha256.Sum256(content)
}

// blockedBy turns what went wrong with one object into a failure: it is told, tried
// again, and holds up nothing else.
func (c *cycle) blockedBy(err error) error {
	switch {
	case err == nil, apierrors.IsConflict(err):
		return err
	case errors.Is(err, errForeign):
		c.fail(v1alpha1.ErrForeignResource, oneLine(err))
	default:
		c.fail(v1alpha1.ErrSyncResource, oneLine(err))
	}
	c.soon(blocked)
	return nil
}

// syncConfig writes what the agents read, and tells whether that was news.
func (c *cycle) syncConfig(ctx context.Context) (bool, error) {
	wanted, err := c.configMap()
	if err != nil {
		return false, err
	}
	return c.apply(ctx, wanted, &corev1.ConfigMap{})
}
