package node

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// errField is a field of a pod that is not given to containers here.
var errField = errors.New("this field of the pod is not supported")

// field answers what the downward API gives for a field. Of the addresses it gives
// those where processes listen.
func field(pod *corev1.Pod, address, path string) (string, error) {
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return lines(pod.Labels), nil
	case "metadata.annotations":
		return lines(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return loopback(address), nil
	}
	for prefix, values := range map[string]map[string]string{"metadata.labels['": pod.Labels, "metadata.annotations['": pod.Annotations} {
		if key, ok := strings.CutPrefix(path, prefix); ok {
			return values[strings.TrimSuffix(key, "']")], nil
		}
	}
	return "", fmt.Errorf("%w: %s", errField, path)
}

// expand puts in $(NAME) where NAME is known, and writes $$ as $, as the API says.
func expand(text string, known map[string]string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		value, left, ok := reference(rest, known)
		if !ok {
			out.WriteString("$")
		}
		out.WriteString(value)
		text = left
	}
}

// reference reads what stands behind a $; false if it is nothing that is known.
func reference(text string, known map[string]string) (value, rest string, ok bool) {
	if rest, ok := strings.CutPrefix(text, "$"); ok {
		return "$", rest, true
	}
	inside, isReference := strings.CutPrefix(text, "(")
	name, rest, closed := strings.Cut(inside, ")")
	if value, known := known[name]; isReference && closed && known {
		return value, rest, true
	}
	return "", text, false
}

// environment answers a container's variables.
func (w *worker) environment(c *corev1.Container) (map[string]string, error) {
	known := map[string]string{}
	for _, e := range c.Env {
		value, set, err := w.variable(e, known)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", e.Name, err)
		}
		if set {
			known[e.Name] = value
		}
	}
	return known, nil
}

// variable answers false for one that is optional and has no source.
func (w *worker) variable(e corev1.EnvVar, known map[string]string) (value string, set bool, err error) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return expand(e.Value, known), true, nil
	case from.FieldRef != nil:
		value, err = field(w.latest(), w.address, from.FieldRef.FieldPath)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		r := from.ConfigMapKeyRef
		return w.key(source{configMap: r.Name}, r.Key, r.Optional)
	case from.SecretKeyRef != nil:
		r := from.SecretKeyRef
		return w.key(source{secret: r.Name}, r.Key, r.Optional)
	}
	return "", false, fmt.Errorf("%w: a source of a variable", errField)
}

func (w *worker) key(from source, key string, optional *bool) (string, bool, error) {
	data, err := w.k.read(w.pod.Namespace, from)
	content, there := data[key]
	if err == nil && there {
		return string(content), true, nil
	}
	if optional != nil && *optional {
		return "", false, nil
	}
	if err == nil {
		err = fmt.Errorf("%w: key %q", errNoSource, key)
	}
	return "", false, err
}
