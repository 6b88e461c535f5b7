package restored

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// wordKey is the key of a ConfigMap that stands for somebody's object.
const wordKey = "word"

func word(name, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Users, Name: name}, Data: map[string]string{wordKey: text}}
}

// Write makes an object of a user's, or gives it another text.
func (w *World) Write(ctx context.Context, name, text string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := w.Client.Create(ctx, word(name, text))
	if apierrors.IsAlreadyExists(err) {
		err = w.Client.Update(ctx, word(name, text))
	}
	if err != nil {
		return fmt.Errorf("write the object %s: %w", name, err)
	}
	return nil
}

// Read is the text of an object; false if there is none of that name.
func (w *World) Read(ctx context.Context, name string) (text string, is bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	found := &corev1.ConfigMap{}
	err = w.Client.Get(ctx, client.ObjectKey{Namespace: Users, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read the object %s: %w", name, err)
	}
	return found.Data[wordKey], true, nil
}

// Delete takes an object away.
func (w *World) Delete(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := w.Client.Delete(ctx, word(name, "")); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the object %s: %w", name, err)
	}
	return nil
}
