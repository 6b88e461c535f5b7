package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/test/world"
)

// The Etcd that is walked.
const (
	namespace = "chaos"
	name      = "main"
	version   = "3.7.3"
	home      = 3 // the size that it starts and ends with
	largest   = 5
)

var mine = []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/instance": name}}

func plant(ctx context.Context) error {
	if err := admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return fmt.Errorf("create the namespace: %w", err)
	}
	e := &v1alpha1.Etcd{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.EtcdSpec{
			Replicas: ptr.To(int32(home)), Storage: v1alpha1.StorageSpec{Size: ptr.To(resource.MustParse("1Gi"))},
			Etcd: &v1alpha1.EtcdConfig{Version: version},
		},
	}
	if err := admin.Create(ctx, e); err != nil {
		return fmt.Errorf("create the Etcd: %w", err)
	}
	return nil
}

func pod(ordinal int) string { return fmt.Sprintf("%s-%d", name, ordinal) }

// serviceURL and memberURL are what clients connect to.
func serviceURL() string { return fmt.Sprintf("http://%s.%s.svc:2379", name, namespace) }

func memberURL(ordinal int) string {
	return fmt.Sprintf("http://%s.%s-peer.%s.svc:2379", pod(ordinal), name, namespace)
}

func memberURLs() (urls []string) {
	for i := range largest {
		urls = append(urls, memberURL(i))
	}
	return urls
}

// callTimeout is how long the API server may take: it is killed now and then.
const callTimeout = 10 * time.Second

func get(ctx context.Context) (*v1alpha1.Etcd, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e := &v1alpha1.Etcd{}
	if err := admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, e); err != nil {
		return nil, fmt.Errorf("get the Etcd: %w", err)
	}
	return e, nil
}

// scale does what an operator does.
func scale(ctx context.Context, replicas int) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e := &v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	return admin.Patch(ctx, e, client.RawPatch("application/merge-patch+json", patch))
}

var errNotYet = errors.New("not yet")

// settled answers nil for that many healthy voters and a status with nothing left to do.
func settled(e *v1alpha1.Etcd, replicas int) error {
	s := e.Status
	why := ""
	switch {
	case s.ObservedGeneration != e.Generation:
		why = "the generation is not observed"
	case s.ScaleOperation != nil, !meta.IsStatusConditionFalse(s.Conditions, v1alpha1.ConditionScaleOperationInProgress):
		why = "a change is on its way"
	case !meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionReady), !meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionQuorate):
		why = "it is not ready"
	case len(s.Members) != replicas, int(s.Replicas) != replicas:
		why = "the size is another one"
	case len(s.LastErrors) > 0, s.LastOperation.State != v1alpha1.StateSucceeded:
		why = "the last reconcile has not succeeded"
	}
	for _, m := range s.Members {
		if m.Role != v1alpha1.RoleVoter || !m.Started || !m.Healthy {
			why = fmt.Sprintf("member %q is no healthy voter", m.Name)
		}
	}
	if why != "" {
		return fmt.Errorf("%w: %s: %s", errNotYet, why, describe(e))
	}
	return nil
}

// exactly wants the live list, pods and volumes to be those of the first ordinals.
func exactly(ctx context.Context, replicas int) error {
	c, err := etcd.New(ctx, etcd.Options{Endpoints: []string{serviceURL()}})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	view, err := c.View(ctx)
	if err != nil {
		return err
	}
	var members []string
	for _, m := range view.Members {
		if m.Learner || !m.Started || !m.Healthy {
			return fmt.Errorf("%w: member %q is no healthy voter: %+v", errNotYet, m.Name, m)
		}
		members = append(members, m.Name)
	}
	pods, claims := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}
	if err := errors.Join(admin.List(ctx, pods, mine...), admin.List(ctx, claims, mine...)); err != nil {
		return fmt.Errorf("list pods and volumes: %w", err)
	}
	if len(members) != replicas || len(pods.Items) != replicas || len(claims.Items) != replicas {
		return fmt.Errorf("%w: members %v, %d pods, %d volumes, want %d of each", errNotYet, members, len(pods.Items), len(claims.Items), replicas)
	}
	return nil
}

// describe is an Etcd in a few lines.
func describe(e *v1alpha1.Etcd) string {
	var b strings.Builder
	fmt.Fprintf(&b, "spec.replicas=%d status.replicas=%d hibernated=%d", ptr.Deref(e.Spec.Replicas, -1), e.Status.Replicas, ptr.Deref(e.Status.HibernatedReplicas, -1))
	for _, c := range e.Status.Conditions {
		fmt.Fprintf(&b, "\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	if o := e.Status.ScaleOperation; o != nil {
		fmt.Fprintf(&b, "\n  change: %s from %d to %d since %s", o.Type, o.From, o.To, o.StartedAt.Format(time.TimeOnly))
	}
	if o := e.Status.LastOperation; o != nil {
		fmt.Fprintf(&b, "\n  last: %s %s: %s", o.Type, o.State, o.Description)
	}
	for _, l := range e.Status.LastErrors {
		fmt.Fprintf(&b, "\n  error: %s: %s", l.Code, l.Description)
	}
	for _, m := range e.Status.Members {
		fmt.Fprintf(&b, "\n  member %q %s %s started=%t healthy=%t leader=%t", m.Name, m.ID, m.Role, m.Started, m.Healthy, m.Leader)
	}
	for _, r := range e.Status.RemovedMembers {
		fmt.Fprintf(&b, "\n  ledger %s %s %s", r.Name, r.ID, r.State)
	}
	return b.String()
}

// story is what a failed run needs to be understood.
func story(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	text := ""
	if e, err := get(ctx); err == nil {
		text = describe(e)
	}
	pods := &corev1.PodList{}
	_ = admin.List(ctx, pods, mine...) // what cannot be read is not told
	for _, p := range pods.Items {
		text += fmt.Sprintf("\n--- pod %s %s, deleted: %v", p.Name, p.Status.Phase, p.DeletionTimestamp)
		for _, s := range append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
			text += fmt.Sprintf("\n  %s ready=%t restarts=%d %+v\n    %s", s.Name, s.Ready, s.RestartCount, s.State, tail(shared.Nodes.Logs(namespace, p.Name, s.Name), 5))
		}
	}
	for _, m := range []*world.Manager{gate, controllers} {
		if m != nil {
			log, _ := m.Log()
			text += "\n--- " + m.Name + "\n" + tail(log, 40)
		}
	}
	return text
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n    ")
}
