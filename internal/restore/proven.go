package restore

import "context"

// Proven is the answer of a control plane whose etcd is the recovered one, which its
// revision tells; else that of the target, or its error.
func Proven(ctx context.Context, etcd Etcd, m *Marker) (answer Probe, err error) {
	answer, err = etcd.Probe(ctx, m.Node(m.Target).Address)
	for _, n := range m.Nodes {
		if err == nil && m.Reached(answer) {
			return answer, nil
		}
		if !n.ControlPlane() || n.Machine == m.Target {
			continue
		}
		if found, failed := etcd.Probe(ctx, n.Address); failed == nil && m.Reached(found) {
			return found, nil
		}
	}
	return answer, err
}

// Reached tells whether an answer is at a revision that only the recovered etcd has.
func (m *Marker) Reached(p Probe) bool { return p.Revision >= m.Pinned.Floor }
