package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Bounds of a list: objects a page, and in all. A namespace with more is none
// that a rule could judge within its time.
const (
	pageSize = 500
	maxItems = 10_000
)

// ErrTooMany ends a list that does not fit its bound.
var ErrTooMany = errors.New("too many objects")

// Live reads objects of one API group as they are now: each read asks the API
// server for its most recent state.
type Live struct {
	client  dynamic.Interface
	version schema.GroupVersion
}

// NewLive makes a reader of the group's version.
func NewLive(config *rest.Config, version schema.GroupVersion) (*Live, error) {
	client, err := dynamic.NewForConfig(unthrottled(config))
	if err != nil {
		return nil, fmt.Errorf("make a live reader: %w", err)
	}
	return &Live{client: client, version: version}, nil
}

// Get returns the object, or found=false where the API server says that it does
// not exist. A server that does not serve the resource at all is an error: it
// answers 404 too, but says nothing about the object. No object has a name that
// is no path segment, such as a/b; asking for it would end in an error for good.
func (l *Live) Get(ctx context.Context, resource, namespace, name string) (object map[string]any, found bool, err error) {
	if name != "" && len(path.IsValidPathSegmentName(name)) > 0 {
		return nil, false, nil
	}
	got, err := l.of(resource, namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get %s %s/%s: %w", resource, namespace, name, err)
	}
	return got.Object, true, nil
}

// List returns every object of the namespace, each a map[string]any. It fails
// with ErrTooMany beyond 10,000.
func (l *Live) List(ctx context.Context, resource, namespace string) ([]any, error) {
	items := []any{}
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := l.of(resource, namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list %s in %s: %w", resource, namespace, err)
		}
		for i := range page.Items {
			items = append(items, page.Items[i].Object)
		}
		options.Continue = page.GetContinue()
		switch {
		case options.Continue == "" && len(items) <= maxItems:
			return items, nil
		case len(items) >= maxItems:
			return nil, fmt.Errorf("list %s in %s: %w: more than %d", resource, namespace, ErrTooMany, maxItems)
		}
	}
}

func (l *Live) of(resource, namespace string) dynamic.ResourceInterface {
	return l.client.Resource(l.version.WithResource(resource)).Namespace(namespace)
}
