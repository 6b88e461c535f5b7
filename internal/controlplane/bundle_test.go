package controlplane

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/internal/talos"
)

// covers: B-13
func TestUnusableBundles(t *testing.T) {
	const secret = "Secret default/quay-talos: the secrets bundle cannot be used: "
	cases := []struct {
		name    string
		objects []client.Object
		want    string
	}{
		{"no Secret", nil, secret + "there is no such Secret; create it with the output of talosctl gen secrets under the key bundle"},
		{"no key", []client.Object{theSecret("1", map[string][]byte{"talos": realBundle(t)})}, secret + "it has no key bundle; put the output of talosctl gen secrets there"},
		{"nothing in it", []client.Object{theSecret("1", map[string][]byte{"bundle": nil})}, secret + "it is empty"},
		{"no YAML", []client.Object{theSecret("1", map[string][]byte{"bundle": []byte("certs: [")})}, secret + "it is no YAML: yaml: line 1: did not find expected node content"},
		{"another file", []client.Object{theSecret("1", map[string][]byte{"bundle": []byte("context: quay\n")})}, secret + "cluster.id is missing"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(apiServer(t, nil, c.objects...), talos.Timeouts{}).Bundle(t.Context(), theCluster())
			if !errors.Is(err, talos.ErrBundle) || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// An API server that does not answer says nothing of the bundle.
func TestBundleOfADeafServer(t *testing.T) {
	deaf := errors.New("the API server is away")
	get := func(client.ObjectKey) error { return deaf }
	_, err := New(apiServer(t, get), talos.Timeouts{}).Bundle(t.Context(), theCluster())
	if errors.Is(err, talos.ErrBundle) || !errors.Is(err, deaf) || err.Error() != "get Secret default/quay-talos: the API server is away" {
		t.Errorf("got %v", err)
	}
}

// The Secret is read each time, and its content parsed once a version: certificates
// that were issued stay in use.
func TestBundleIsKept(t *testing.T) {
	reads := 0
	server := apiServer(t, func(client.ObjectKey) error { reads++; return nil }, theSecret("1", map[string][]byte{"bundle": realBundle(t)}))
	a := New(server, talos.Timeouts{})
	get := func() *talos.Bundle {
		t.Helper()
		b, err := a.Bundle(t.Context(), theCluster())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := get()
	if get() != first || reads != 2 {
		t.Errorf("it was parsed again, or not read again: %d reads", reads)
	}
	changed := theSecret("1", map[string][]byte{"bundle": append(realBundle(t), '\n')})
	if err := server.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	second := get()
	if second == first {
		t.Error("another version of the Secret was not read")
	}
	if err := server.Delete(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Bundle(t.Context(), theCluster()); !errors.Is(err, talos.ErrBundle) || len(a.bundles) != 0 {
		t.Errorf("got %v, and %d bundles are kept of a Secret that is gone", err, len(a.bundles))
	}
}

// The resource version of a Secret that was made anew may be one that was seen before.
func TestBundleOfANamesake(t *testing.T) {
	server := apiServer(t, nil)
	a := New(server, talos.Timeouts{})
	var bundles []*talos.Bundle
	var versions []string
	for _, uid := range []types.UID{"1", "2"} {
		secret := theSecret(uid, map[string][]byte{"bundle": realBundle(t)})
		if err := server.Create(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		b, err := a.Bundle(t.Context(), theCluster())
		if err != nil {
			t.Fatal(err)
		}
		bundles, versions = append(bundles, b), append(versions, secret.ResourceVersion)
		if err := server.Delete(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	if versions[0] != versions[1] {
		t.Fatalf("the versions are %v, and show nothing", versions)
	}
	if bundles[0] == bundles[1] {
		t.Error("a Secret of the same name passes for the one that is gone")
	}
}

// A Secret that breaks takes the bundle of before with it.
func TestBundleThatBreaks(t *testing.T) {
	server := apiServer(t, nil, theSecret("1", map[string][]byte{"bundle": realBundle(t)}))
	a := New(server, talos.Timeouts{})
	if _, err := a.Bundle(t.Context(), theCluster()); err != nil {
		t.Fatal(err)
	}
	if err := server.Update(t.Context(), theSecret("1", nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Bundle(t.Context(), theCluster()); !errors.Is(err, talos.ErrBundle) || len(a.bundles) != 0 {
		t.Errorf("got %v, and %d bundles are kept", err, len(a.bundles))
	}
}
