package certs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// view is one look at the API server.
type view struct {
	// since is from before the look, now from after it.
	since, now    time.Time
	configuration *admissionregistrationv1.ValidatingWebhookConfiguration // nil: absent
	secret        *corev1.Secret                                          // nil: absent
	authority     Authority
	live          Live
}

// look reads the configuration first: a bundle made from an older Secret is then
// refused by the configuration's resource version.
func (k *Keeper) look(ctx context.Context) (view, error) {
	v := view{since: k.Clock.Now()}
	var err error
	v.configuration, err = get(ctx, k.Policy.CallTimeout, k.ConfigurationName, k.Configurations.Get)
	if err != nil {
		return v, fmt.Errorf("read webhook configuration %s: %w", k.ConfigurationName, err)
	}
	v.secret, err = get(ctx, k.Policy.CallTimeout, k.SecretName, k.Secrets.Get)
	if err != nil {
		return v, fmt.Errorf("read secret %s: %w", k.SecretName, err)
	}
	v.now = k.Clock.Now()
	v.authority, v.live = AuthorityOf(v.secret, v.now), LiveOf(v.configuration)
	v.authority.SeenAt = k.seenAt(v.authority.PublishedAt, v.now)
	return v, nil
}

func (k *Keeper) seenAt(published, now time.Time) time.Time {
	if k.seen.at.IsZero() || !k.seen.published.Equal(published) {
		k.seen.published, k.seen.at = published, now
	}
	return k.seen.at
}

// get returns nil for what does not exist.
func get[T any](ctx context.Context, limit time.Duration, name string, from func(context.Context, string, metav1.GetOptions) (*T, error)) (*T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	got, err := from(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return got, err
}

// take does one step. A lost race is no error: the caller looks again.
func (k *Keeper) take(ctx context.Context, step Step, v view) error {
	ctx, cancel := context.WithTimeout(ctx, k.Policy.CallTimeout)
	defer cancel()
	err := k.write(ctx, step, v)
	if v.raced(err) {
		k.Log.V(1).Info("another replica was faster", "step", step, "cause", err.Error())
		return nil
	}
	if err == nil {
		k.Log.Info("certificate authority changed", "step", step)
	}
	return err
}

// raced tells a write that came too late from one that failed. A creation that
// ends in not found lacks its namespace.
func (v view) raced(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.IsNotFound(err) && v.secret != nil
}

func (k *Keeper) write(ctx context.Context, step Step, v view) error {
	if step == Publish {
		return k.publish(ctx, v)
	}
	next, err := k.after(step, v)
	if err != nil {
		return err
	}
	if v.secret == nil {
		_, err = k.Secrets.Create(ctx, next.Write(k.emptySecret()), metav1.CreateOptions{})
	} else {
		_, err = k.Secrets.Update(ctx, next.Write(v.secret), metav1.UpdateOptions{})
	}
	return err
}

// after returns the authority as it is once the step is taken.
func (k *Keeper) after(step Step, v view) (Authority, error) {
	a := v.authority
	switch step {
	case Begin, Stage:
		ca, err := k.Found(v.now.Add(-k.Policy.Skew), v.now.Add(k.Policy.CALifetime))
		if err != nil {
			return a, err
		}
		if step == Begin {
			return a.begin(ca, v.live, v.now), nil
		}
		return a.stage(ca), nil
	case Withdraw:
		return a.withdraw(), nil
	case Confirm:
		return a.confirm(v.now), nil
	case Promote:
		return a.promote(v.now), nil
	default:
		return a.retire(), nil
	}
}

func (k *Keeper) emptySecret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:   k.SecretName,
			Labels: map[string]string{"app.kubernetes.io/part-of": "quorate"},
		},
		Type: corev1.SecretTypeTLS,
	}
}

type patchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// publish patches the bundles alone, so that fields which this version does not
// know survive. The resource version makes it a compare-and-swap.
func (k *Keeper) publish(ctx context.Context, v view) error {
	bundle := encodeBundle(v.authority.Wanted())
	ops := []patchOp{{"replace", "/metadata/resourceVersion", v.configuration.ResourceVersion}}
	for i := range v.configuration.Webhooks {
		ops = append(ops, patchOp{"add", fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i), bundle})
	}
	patch, err := json.Marshal(ops)
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	_, err = k.Configurations.Patch(ctx, k.ConfigurationName, types.JSONPatchType, patch, metav1.PatchOptions{})
	return err
}
