package etcd

import corev1 "k8s.io/api/core/v1"

// note is an event that is told once what it tells of has been written.
type note struct{ kind, reason, text string }

func (c *cycle) event(reason, text string) { c.note(corev1.EventTypeNormal, reason, text) }
func (c *cycle) warn(reason, text string)  { c.note(corev1.EventTypeWarning, reason, text) }

func (c *cycle) note(kind, reason, text string) {
	c.log.Info(text, "reason", reason)
	c.notes = append(c.notes, note{kind, reason, text})
}

// maxNote is what an event's note may have, in bytes.
const maxNote = 1024

// tell sends the events. A cycle that could not write what they tell of is repeated,
// and so is silent.
func (c *cycle) tell() {
	for _, n := range c.notes {
		c.Events.Eventf(c.etcd, nil, n.kind, n.reason, n.reason, "%s", n.text[:min(len(n.text), maxNote)])
	}
	c.notes = nil
}
