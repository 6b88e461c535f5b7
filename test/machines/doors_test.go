package machines

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/reconcilers/cluster"
	"github.com/quorate/quorate/reconcilers/machine"
)

// config leads the process to the API server. What it writes there for the removal of a
// machine is counted if the machine is named. Bodies are JSON, so that events can be
// told apart.
func (m *mortal) config(to *rest.Config, removed string) *rest.Config {
	c := rest.CopyConfig(to)
	c.QPS, c.Burst, c.ContentType = 100, 200, "application/json"
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &doorToAPI{next, m, removed} })
	return c
}

type doorToAPI struct {
	next    http.RoundTripper
	m       *mortal
	removed string
}

func (d *doorToAPI) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	err = d.m.call(d.write(r), func() (err error) {
		answer, err = d.next.RoundTrip(r)
		return err
	})
	if err != nil && answer != nil {
		_ = answer.Body.Close() // nobody reads it
		answer = nil
	}
	return answer, err
}

// write names what a request changes, such as "patch talosmachines/status". It is empty
// for a read, and for what concerns another machine.
func (d *doorToAPI) write(r *http.Request) string {
	if d.removed == "" || r.Method == http.MethodGet {
		return ""
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	path = path[slices.Index([]string{"", "api", "apis"}, path[0])+1:] // and so the group and version
	if path[0] == "namespaces" && len(path) > 2 {
		path = path[2:]
	}
	if path[0] == "talosmachines" && path[1] != d.removed {
		return ""
	}
	what := strings.ToLower(r.Method) + " " + path[0]
	if len(path) > 2 {
		what += "/" + path[2]
	}
	if path[0] == "events" {
		what += " " + reasonOf(r)
	}
	return what
}

// reasonOf is that of an event that is written.
func reasonOf(r *http.Request) string {
	var event struct{ Reason string }
	body, err := r.GetBody()
	if err == nil {
		err = json.NewDecoder(body).Decode(&event)
	}
	if err != nil {
		return err.Error()
	}
	return event.Reason
}

// doorToPlane leads to a cluster's etcd.
type doorToPlane struct {
	*controlplane.Access
	m    *mortal
	what string
}

func (d *doorToPlane) View(ctx context.Context, b *talos.Bundle, machines []v1alpha1.TalosMachine, id v1alpha1.HexID) (v *etcd.View, err error) {
	ctx, stop := d.m.while(ctx)
	defer stop()
	err = d.m.call(d.what, func() (err error) {
		v, err = d.Access.View(ctx, b, machines, id)
		return err
	})
	return v, err
}

// dial leads the removal of a machine to nodes. A steady look at one is not counted.
func (m *mortal) dial(a *controlplane.Access) machine.Dial {
	return func(b *talos.Bundle, of *v1alpha1.TalosMachine, r talos.Role) (machine.Node, error) {
		node, err := a.Dial(b, of, r)
		if err != nil {
			return nil, err
		}
		d := &doorToNode{node: node, m: m}
		if r == talos.Admin || of.DeletionTimestamp != nil {
			d.name = of.Name
		}
		return d, nil
	}
}

// dialUncounted leads the audit of a cluster to nodes.
func (m *mortal) dialUncounted(a *controlplane.Access) cluster.Dial {
	return func(b *talos.Bundle, of *v1alpha1.TalosMachine, r talos.Role) (cluster.Node, error) {
		node, err := a.Dial(b, of, r)
		if err != nil {
			return nil, err
		}
		return &doorToNode{node: node, m: m}, nil
	}
}
