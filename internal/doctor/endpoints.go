package doctor

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// door is where the API server finds an entry of the webhook.
type door struct {
	// url is set where the entry names an address instead of a Service.
	url                string
	namespace, service string
}

func (d door) String() string {
	if d.url != "" {
		return d.url
	}
	return "Service " + d.namespace + "/" + d.service
}

// serverName is the name that the API server expects in the certificate.
func (d door) serverName() string {
	if u, err := url.Parse(d.url); d.url != "" && err == nil {
		return u.Hostname()
	}
	return d.service + "." + d.namespace + ".svc"
}

// doors lists each once, in the order of the entries.
func doors(w *admissionregistrationv1.ValidatingWebhookConfiguration) []door {
	var all []door
	for _, e := range w.Webhooks {
		d := door{}
		switch {
		case e.ClientConfig.URL != nil:
			d.url = *e.ClientConfig.URL
		case e.ClientConfig.Service != nil:
			d.namespace, d.service = e.ClientConfig.Service.Namespace, e.ClientConfig.Service.Name
		}
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

func checkEndpoints(ctx context.Context, c Config) []Finding {
	configuration, problem := c.installed(ctx)
	if problem != nil {
		return []Finding{*problem}
	}
	var findings []Finding
	for _, d := range doors(configuration) {
		if d.url != "" {
			findings = append(findings, Finding{State: OK, Seen: fmt.Sprintf("the webhook is called at %s, which no Service stands for", d.url)})
			continue
		}
		addresses, problem := c.endpoints(ctx, d)
		if problem != nil {
			findings = append(findings, *problem)
			continue
		}
		findings = append(findings, judgeEndpoints(d, addresses))
	}
	return findings
}

// endpoints lists the ready addresses behind a Service, as host:port.
func (c Config) endpoints(ctx context.Context, d door) ([]string, *Finding) {
	slices, err := read(ctx, c, func(ctx context.Context) (*discoveryv1.EndpointSliceList, error) {
		return c.Kube.DiscoveryV1().EndpointSlices(d.namespace).List(ctx,
			metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + d.service})
	})
	if err != nil {
		f := c.unread("the endpoints of "+d.String(), "list endpointslices.discovery.k8s.io in "+d.namespace, err)
		return nil, &f
	}
	return readyAddresses(slices.Items), nil
}

func readyAddresses(all []discoveryv1.EndpointSlice) []string {
	ready := map[string]bool{}
	for _, slice := range all {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			for _, host := range e.Addresses {
				ready[net.JoinHostPort(host, portOf(slice))] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ready))
}

// portOf is the slice's only port; our Service has one.
func portOf(slice discoveryv1.EndpointSlice) string {
	if len(slice.Ports) == 0 || slice.Ports[0].Port == nil {
		return "443"
	}
	return strconv.Itoa(int(*slice.Ports[0].Port))
}

func judgeEndpoints(d door, addresses []string) Finding {
	switch len(addresses) {
	case 0:
		return Finding{Failed, fmt.Sprintf("%s has no ready endpoint, so every gated change is refused", d),
			fmt.Sprintf("Look at the manager's pods: kubectl -n %s get pods.", d.namespace)}
	case 1:
		return Finding{Warning, fmt.Sprintf("%s has one ready endpoint, and none when that pod goes", d),
			fmt.Sprintf("Look at the manager's other pods: kubectl -n %s get pods.", d.namespace)}
	}
	return Finding{State: OK, Seen: fmt.Sprintf("%s has %d ready endpoints", d, len(addresses))}
}
