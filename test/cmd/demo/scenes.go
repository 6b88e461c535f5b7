package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

const manifest = `apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: main, namespace: plant}
spec:
  replicas: 3
  storage: {size: 1Gi}
  etcd: {version: 3.7.3}
`

// scenes are the act: from nothing to three, to five, back to three, and to one by way
// of a removal that would have cost the quorum.
func (m *members) scenes() []scene {
	return []scene{
		{"Three members form a cluster.", "kubectl apply -f etcd.yaml", "three healthy voters", func(ctx context.Context) error {
			return errors.Join(m.kubectl(ctx, manifest, "apply", "-f", "-"), m.settled(ctx, 3))
		}},
		{"Somebody writes to it.", "", "1,000 keys are acknowledged", func(ctx context.Context) error { return m.keys.write(ctx, 1000) }},
		{"Two more.", "kubectl scale etcd main --replicas=5", "five healthy voters", func(ctx context.Context) error {
			return errors.Join(m.scale(ctx, 5), m.settled(ctx, 5))
		}},
		{"And two fewer. Nobody runs etcdctl.", "kubectl scale etcd main --replicas=3", "three healthy voters, and the volumes of main-3 and main-4 are gone", func(ctx context.Context) error {
			return errors.Join(m.scale(ctx, 3), m.settled(ctx, 3), m.volumes(ctx, 3))
		}},
		{"Member main-0 is down, and somebody wants one member: a removal would cost the quorum.", "kubectl scale etcd main --replicas=1", "the removal is withheld, and the status says why", func(ctx context.Context) error {
			return errors.Join(m.down(ctx, "main-0"), m.scale(ctx, 1), m.withheld(ctx))
		}},
		{"Going back to three is refused meanwhile: a member may be half removed.", "kubectl scale etcd main --replicas=3", "refused by scale-out-blocked", m.refused},
		{"main-0 is back, and the removal goes on by itself.", "", "one healthy voter", func(ctx context.Context) error {
			m.world.Nodes.HoldPod(nil)
			return m.settled(ctx, 1)
		}},
		{"Is everything still there?", "", "every acknowledged key is still there", m.keys.check},
		{"How does it look?", "kubectl get etcd main", "it is quorate, and nothing is on its way", m.look},
	}
}

func (m *members) kubectl(ctx context.Context, stdin string, args ...string) error {
	result, err := m.world.Kubectl(ctx, world.Alice, stdin, append([]string{"-n", plantNamespace}, args...)...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%w: %s", cluster.ErrRefused, strings.TrimSpace(result.Stderr))
	}
	if err == nil {
		m.say(strings.TrimRight(result.Stdout, "\n"))
	}
	return err
}

func (m *members) scale(ctx context.Context, replicas int) error {
	return m.kubectl(ctx, "", "scale", "etcd", plantName, fmt.Sprintf("--replicas=%d", replicas))
}

// field is one of the Etcd's, by a JSONPath.
func (m *members) field(ctx context.Context, path string) (string, error) {
	result, err := m.world.Kubectl(ctx, world.Admin, "", "-n", plantNamespace, "get", "etcd", plantName, "-o", "jsonpath="+path)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%w: %s", cluster.ErrRefused, strings.TrimSpace(result.Stderr))
	}
	return result.Stdout, err
}

const stateOf = `{.status.observedGeneration}={.metadata.generation} {.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="ScaleOperationInProgress")].reason} ` +
	`{.status.replicas} {range .status.members[*]}{.role},{.healthy};{end}`

var errNotYet = errors.New("not yet")

// settled waits until so many members are healthy voters and nothing is on its way.
func (m *members) settled(ctx context.Context, replicas int) error {
	want := fmt.Sprintf("True NoScaleOperation %d %s", replicas, strings.Repeat("voter,true;", replicas))
	return cluster.Until(ctx, fmt.Sprintf("%d healthy voters", replicas), func(ctx context.Context) error {
		got, err := m.field(ctx, stateOf)
		if err != nil {
			return err
		}
		generations, state, _ := strings.Cut(got, " ")
		if seen, asked, _ := strings.Cut(generations, "="); seen != asked || state != want {
			return fmt.Errorf("%w: %s", errNotYet, got)
		}
		return nil
	})
}

func (m *members) volumes(ctx context.Context, want int) error {
	claims, err := m.client.CoreV1().PersistentVolumeClaims(plantNamespace).List(ctx, metav1.ListOptions{})
	if err == nil && len(claims.Items) != want {
		err = fmt.Errorf("%d volumes, want %d: %w", len(claims.Items), want, errNotYet)
	}
	return err
}

// down ends a member's pod and keeps it from starting.
func (m *members) down(ctx context.Context, pod string) error {
	m.world.Nodes.HoldPod(func(p *corev1.Pod) bool { return p.Namespace == plantNamespace && p.Name == pod })
	if err := m.client.CoreV1().Pods(plantNamespace).Delete(ctx, pod, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return cluster.Until(ctx, pod+" to be down", func(context.Context) error {
		if m.world.Nodes.Running(plantNamespace, pod) {
			return errNotYet
		}
		return nil
	})
}

func (m *members) withheld(ctx context.Context) error {
	const code = "ERR_QUORUM_UNSAFE_MEMBER_REMOVAL"
	return cluster.Until(ctx, code, func(ctx context.Context) error {
		got, err := m.field(ctx, `{range .status.lastErrors[*]}{.code}: {.description}{"\n"}{end}`)
		if err == nil && !strings.Contains(got, code) {
			err = errNotYet
		}
		if err == nil {
			m.say(strings.TrimRight(got, "\n"))
		}
		return err
	})
}

func (m *members) refused(ctx context.Context) error {
	err := m.scale(ctx, 3)
	if err == nil || !strings.Contains(err.Error(), "(scale-out-blocked)") {
		return fmt.Errorf("expected a refusal by scale-out-blocked: %w", err)
	}
	m.say(err.Error())
	return nil
}

func (m *members) look(ctx context.Context) error {
	if err := m.kubectl(ctx, "", "get", "etcd", plantName); err != nil {
		return err
	}
	return m.settled(ctx, 1)
}
