package node

import (
	"testing"
)

// TestMembers: three members form a cluster.
func TestMembers(t *testing.T) {
	ns := namespace(t, "members")
	install(t, ns)
	for _, name := range []string{"main-0", "main-1", "main-2"} {
		eventually(t, ns, name, "to be ready", isPodReady)
	}
}
