package node

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// now has the precision of the API.
func now() metav1.Time { return metav1.Now().Rfc3339Copy() }

// set changes what the status tells.
func (c *container) set(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.w.k.bell.ring()
}

func (c *container) ended(program *child, code int) {
	message := c.farewell(code)
	c.set(func() {
		began := c.state.Running.StartedAt
		reason := "Completed"
		if code != 0 {
			reason = "Error"
		}
		c.state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: int32(code), Reason: reason, Message: message, StartedAt: began, FinishedAt: now(),
		}}
		c.started, c.ready = false, c.role == initial && code == 0
	})
}

// rest shows that the container waits for its next start.
func (c *container) rest(d time.Duration) {
	c.set(func() {
		c.last = c.state
		c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CrashLoopBackOff", Message: "back-off " + d.String() + " restarting container " + c.spec.Name,
		}}
	})
}

// wait shows why the container cannot start.
func (c *container) wait(err error) {
	reason := "RunContainerError"
	switch {
	case errors.Is(err, errPull):
		reason = "ErrImagePull"
	case errors.Is(err, errNoSource), errors.Is(err, errField):
		reason = "CreateContainerConfigError"
	}
	c.set(func() {
		c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: err.Error()}}
	})
}
