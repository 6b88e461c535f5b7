package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// source is an object that has files: a ConfigMap or a Secret.
type source struct{ configMap, secret string }

// errNoSource is an object or a key that a pod needs and that is not there.
var errNoSource = errors.New("it is not there")

func (k *Kubelets) read(namespace string, s source) (map[string][]byte, error) {
	if s.secret != "" {
		found, err := k.world().secrets.Secrets(namespace).Get(s.secret)
		if err != nil {
			return nil, fmt.Errorf("secret %q: %w", s.secret, errNoSource)
		}
		return found.Data, nil
	}
	found, err := k.world().configMaps.ConfigMaps(namespace).Get(s.configMap)
	if err != nil {
		return nil, fmt.Errorf("configmap %q: %w", s.configMap, errNoSource)
	}
	data := maps.Clone(found.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for name, text := range found.Data {
		data[name] = []byte(text)
	}
	return data, nil
}

// files are the content of a volume by their path in it.
type files map[string][]byte

// pick answers the items of an object, all of its keys if there are none.
func pick(data map[string][]byte, items []corev1.KeyToPath) (files, error) {
	if len(items) == 0 {
		return data, nil
	}
	out := files{}
	for _, item := range items {
		content, ok := data[item.Key]
		if !ok {
			return nil, fmt.Errorf("%w: key %q", errNoSource, item.Key)
		}
		out[item.Path] = content
	}
	return out, nil
}

// content answers the files of a volume that is made of objects; false for others.
func (w *worker) content(ctx context.Context, v corev1.Volume) (files, bool, error) {
	switch {
	case v.ConfigMap != nil:
		f, err := w.object(source{configMap: v.ConfigMap.Name}, v.ConfigMap.Items, v.ConfigMap.Optional)
		return f, true, err
	case v.Secret != nil:
		f, err := w.object(source{secret: v.Secret.SecretName}, v.Secret.Items, v.Secret.Optional)
		return f, true, err
	case v.DownwardAPI != nil:
		f, err := w.downward(v.DownwardAPI.Items)
		return f, true, err
	case v.Projected != nil:
		f, err := w.projected(ctx, v.Projected.Sources)
		return f, true, err
	}
	return nil, false, nil
}

// object replaces paths in what a ConfigMap says, and in nothing else.
func (w *worker) object(s source, items []corev1.KeyToPath, optional *bool) (files, error) {
	data, err := w.k.read(w.pod.Namespace, s)
	var out files
	if err == nil {
		out, err = pick(data, items)
	}
	if err != nil && optional != nil && *optional {
		return files{}, nil
	}
	if err != nil || s.secret != "" {
		return out, err
	}
	out = maps.Clone(out)
	for name, text := range out {
		out[name] = []byte(w.paths.replace(string(text)))
	}
	return out, nil
}

func (w *worker) downward(items []corev1.DownwardAPIVolumeFile) (files, error) {
	out := files{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("%w: %s", errField, item.Path)
		}
		text, err := field(w.latest(), w.address, item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		out[item.Path] = []byte(text)
	}
	return out, nil
}

func (w *worker) projected(ctx context.Context, sources []corev1.VolumeProjection) (files, error) {
	out := files{}
	for _, s := range sources {
		f, err := w.projection(ctx, s)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, f)
	}
	return out, nil
}

func (w *worker) projection(ctx context.Context, s corev1.VolumeProjection) (files, error) {
	switch {
	case s.ConfigMap != nil:
		return w.object(source{configMap: s.ConfigMap.Name}, s.ConfigMap.Items, s.ConfigMap.Optional)
	case s.Secret != nil:
		return w.object(source{secret: s.Secret.Name}, s.Secret.Items, s.Secret.Optional)
	case s.DownwardAPI != nil:
		return w.downward(s.DownwardAPI.Items)
	case s.ServiceAccountToken != nil:
		token, err := w.token(ctx, s.ServiceAccountToken)
		return files{s.ServiceAccountToken.Path: []byte(token)}, err
	}
	return nil, fmt.Errorf("%w: a projected volume's source", errField)
}

// token is asked for once: it outlives every test.
func (w *worker) token(ctx context.Context, s *corev1.ServiceAccountTokenProjection) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if have := w.tokens[s.Path]; have != "" {
		return have, nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: s.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: w.pod.Name, UID: w.pod.UID},
	}}
	if s.Audience != "" {
		request.Spec.Audiences = []string{s.Audience}
	}
	account := cmp.Or(w.pod.Spec.ServiceAccountName, "default")
	issued, err := w.k.client.CoreV1().ServiceAccounts(w.pod.Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for pod %s: %w", w.pod.Name, err)
	}
	w.tokens[s.Path] = issued.Status.Token
	return issued.Status.Token, nil
}

// lines is the downward API's form of labels and annotations.
func lines(values map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		out = append(out, fmt.Sprintf("%s=%q", key, values[key]))
	}
	return strings.Join(out, "\n")
}
