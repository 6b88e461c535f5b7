package drain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// evictTimeout bounds one eviction. It is shorter than the 10 s after which the
	// API server, while it has not looked at a changed PodDisruptionBudget yet, lets
	// client-go ask again and again by itself.
	evictTimeout = 5 * time.Second
	// atOnce bounds the evictions that run together, so that slow ones do not starve
	// the others.
	atOnce = 16
)

// evict asks for the eviction of the pods that are not terminating yet.
func (d *Drainer) evict(ctx context.Context, pods []corev1.Pod) (Progress, error) {
	var (
		mu   sync.Mutex
		p    Progress
		errs []error
		all  errgroup.Group
	)
	all.SetLimit(atOnce)
	for _, pod := range pods {
		all.Go(func() error {
			a := answer{}
			if pod.DeletionTimestamp.IsZero() {
				a = d.ask(ctx, &pod)
			}
			mu.Lock()
			defer mu.Unlock()
			p.add(pod.Namespace+"/"+pod.Name, a)
			if a.err != nil {
				errs = append(errs, fmt.Errorf("evict Pod %s/%s: %w", pod.Namespace, pod.Name, a.err))
			}
			return nil
		})
	}
	_ = all.Wait() // they return none: one pod's error ends no other's eviction
	return p.sorted(), errors.Join(errs...)
}

// ask evicts the very pod that was listed: a StatefulSet may have made the next one of
// that name on another Node meanwhile.
func (d *Drainer) ask(whole context.Context, pod *corev1.Pod) answer {
	ctx, cancel := context.WithTimeout(whole, evictTimeout)
	defer cancel()
	err := d.Client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))},
	})
	if err != nil && whole.Err() != nil {
		return answer{err: err}
	}
	return judge(err)
}

// answer is what came of one eviction; the zero value is a pod on its way out.
type answer struct {
	gone    bool
	blocked string // why the API server does not evict it now
	err     error  // nothing is known
}

func judge(err error) answer {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return answer{}
	case gone(err):
		return answer{gone: true}
	case apierrors.IsConflict(err):
		return answer{} // it changed, or is another one by now: the next look says
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return answer{} // its namespace deletes it
	case errors.As(err, &status):
		return answer{blocked: text(err, status.Status())}
	case errors.Is(err, context.DeadlineExceeded):
		return answer{blocked: fmt.Sprintf("the API server did not evict it within %s", evictTimeout)}
	}
	return answer{err: err}
}

// text adds the causes, which name the PodDisruptionBudget.
func text(err error, status metav1.Status) string {
	words := []string{err.Error()}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			words = append(words, cause.Message)
		}
	}
	return strings.Join(words, " ")
}

func (p *Progress) add(pod string, a answer) {
	if a.gone {
		return
	}
	p.Left = append(p.Left, pod)
	if a.blocked != "" {
		p.Blocked = append(p.Blocked, pod+": "+a.blocked)
	}
}
