package etcd

import (
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/rejoin"
)

// Labels of everything that belongs to an Etcd.
const (
	labelName      = "app.kubernetes.io/name"
	labelInstance  = "app.kubernetes.io/instance"
	labelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of the label app.kubernetes.io/managed-by.
	ManagedBy = "quorate"
)

// maxOrdinals is one more than the highest ordinal that an Etcd can have had.
const maxOrdinals = 9

// names are those of an Etcd's objects and of its members.
type names struct {
	etcd *v1alpha1.Etcd
}

func (n names) labels() map[string]string {
	return map[string]string{labelName: "etcd", labelInstance: n.etcd.Name, labelManagedBy: ManagedBy}
}

func (n names) statefulSet() string   { return n.etcd.Name }
func (n names) peerService() string   { return n.etcd.Name + "-peer" }
func (n names) clientService() string { return n.etcd.Name }
func (n names) configMap() string     { return n.etcd.Name + "-guard" }
func (n names) budget() string        { return n.etcd.Name }

func (n names) serviceAccount() string {
	if pod := n.etcd.Spec.Pod; pod != nil && pod.ServiceAccountName != "" {
		return pod.ServiceAccountName
	}
	return n.etcd.Name + "-member"
}

func (n names) pod(ordinal int) string { return fmt.Sprintf("%s-%d", n.etcd.Name, ordinal) }

func (n names) claim(template string, ordinal int) string {
	return fmt.Sprintf("%s-%s-%d", template, n.statefulSet(), ordinal)
}

// settings are spec.etcd, or an empty one.
func (n names) settings() v1alpha1.EtcdConfig {
	if n.etcd.Spec.Etcd == nil {
		return v1alpha1.EtcdConfig{}
	}
	return *n.etcd.Spec.Etcd
}

func scheme(tls bool) string {
	if tls {
		return "https"
	}
	return "http"
}

func port(given, otherwise int32) int32 {
	if given == 0 {
		return otherwise
	}
	return given
}

func (n names) clientPort() int32    { return port(n.settings().ClientPort, 2379) }
func (n names) peerPort() int32      { return port(n.settings().PeerPort, 2380) }
func (n names) clientScheme() string { return scheme(n.settings().ClientTLS != nil) }
func (n names) peerScheme() string   { return scheme(n.settings().PeerTLS != nil) }

// peerURL and clientURL are a member's, by the name of its pod. {name} gives the
// agent's pattern.
func (n names) peerURL(pod string) string {
	return fmt.Sprintf("%s://%s.%s.%s.svc:%d", n.peerScheme(), pod, n.peerService(), n.etcd.Namespace, n.peerPort())
}

func (n names) clientURL(pod string) string {
	return fmt.Sprintf("%s://%s.%s.%s.svc:%d", n.clientScheme(), pod, n.peerService(), n.etcd.Namespace, n.clientPort())
}

// serviceURL is that of the client Service.
func (n names) serviceURL() string {
	return fmt.Sprintf("%s://%s.%s.svc:%d", n.clientScheme(), n.clientService(), n.etcd.Namespace, n.clientPort())
}

// places are the Etcd's ordinals below a number.
func (n names) places(below int) []guard.Own {
	out := make([]guard.Own, below)
	for i := range out {
		name := n.pod(i)
		out[i] = guard.Own{Ordinal: i, Name: name, PeerURLs: []string{n.peerURL(name)}}
	}
	return out
}

// founders are the members of the initial cluster of that size.
func (n names) founders(size int) []rejoin.Founder {
	var out []rejoin.Founder
	for _, p := range n.places(size) {
		out = append(out, rejoin.Founder{Name: p.Name, PeerURLs: p.PeerURLs})
	}
	return out
}

// foundersOf finds the initial cluster that has this ID; nil if none has, since the
// Etcd joined a source or its ports were others.
func (n names) foundersOf(cluster rejoin.ID) []rejoin.Founder {
	for size := 1; size <= maxOrdinals; size++ {
		if f := n.founders(size); rejoin.FoundingOf(string(n.etcd.UID), f).ClusterID == cluster {
			return f
		}
	}
	return nil
}
