package talos

import (
	"errors"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/resources/config"
)

func configuration(t *testing.T, id resource.ID, hostname string) resource.Resource {
	t.Helper()
	provider, err := configloader.NewFromBytes([]byte("version: v1alpha1\nmachine:\n  type: worker\n  network:\n    hostname: " + hostname + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return config.NewMachineConfigWithID(provider, id)
}

// What is stored and what runs are compared; a node that has stored nothing since its boot
// runs with what it has.
//
// covers: C-23
func TestConfigStaged(t *testing.T) {
	b := loadBundle(t)
	for _, c := range []struct {
		name            string
		running, stored string
		want            bool
		err             error
	}{
		{"booted with it", "one", "", false, nil},
		{"applied at once", "one", "one", false, nil},
		{"staged", "one", "two", true, nil},
		{"no configuration runs", "", "two", false, ErrNotFound},
		{"none at all", "", "", false, nil},
	} {
		s := newServer(t, b, nil)
		if c.running != "" {
			s.create(t, configuration(t, config.ActiveID, c.running))
		}
		if c.stored != "" {
			s.create(t, configuration(t, config.PersistentID, c.stored))
		}
		got, err := newNode(t, b, Options{Address: s.address, Role: Admin}).ConfigStaged(t.Context())
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %t, %v; want %t, %v", c.name, got, err, c.want, c.err)
		}
	}
}
