package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probe asks a container's probes as long as it runs.
func (c *container) probe(ctx context.Context, program *child) {
	if p := c.spec.StartupProbe; p != nil {
		up := false
		c.ask(ctx, p, func(ok bool) bool {
			up = ok
			return false
		})
		if !up {
			c.unhealthy(ctx, program)
			return
		}
		c.set(func() { c.started, c.ready = true, c.spec.ReadinessProbe == nil })
	}
	live := c.spec.LivenessProbe
	if live != nil {
		go c.ask(ctx, live, func(ok bool) bool {
			if !ok {
				c.unhealthy(ctx, program)
			}
			return ok
		})
	}
	if p := c.spec.ReadinessProbe; p != nil {
		c.ask(ctx, p, func(ok bool) bool {
			c.set(func() { c.ready = ok })
			return true
		})
	}
}

// unhealthy ends a container, which is then started again.
func (c *container) unhealthy(ctx context.Context, program *child) {
	ctx, cancel := context.WithTimeout(ctx, c.w.grace())
	defer cancel()
	if program.Alive() == nil {
		c.terminate(ctx)
	}
}

// ask probes until the context ends or verdict, which hears of each change, answers
// false.
func (c *container) ask(ctx context.Context, p *corev1.Probe, verdict func(ok bool) bool) {
	pause(ctx, time.Duration(p.InitialDelaySeconds)*time.Second)
	var t threshold
	for ctx.Err() == nil {
		err := c.request(ctx, p)
		if changed, ok := t.count(err == nil, int(p.SuccessThreshold), int(p.FailureThreshold)); ctx.Err() == nil && changed && !verdict(ok) {
			return
		}
		pause(ctx, c.period(p))
	}
}

func (c *container) period(p *corev1.Probe) time.Duration {
	period := time.Duration(max(1, p.PeriodSeconds)) * time.Second
	if every := c.w.k.options.ProbeEvery; every > 0 {
		period = min(period, every)
	}
	return period
}

// threshold counts answers until enough of one kind followed each other.
type threshold struct {
	ok, known bool
	row       int
	last      bool
}

// count answers whether the verdict has changed, and what it is.
func (t *threshold) count(success bool, successes, failures int) (changed, ok bool) {
	if t.row == 0 || success != t.last {
		t.last, t.row = success, 0
	}
	t.row++
	need := max(1, failures)
	if success {
		need = max(1, successes)
	}
	if t.row < need || t.known && t.ok == success {
		return false, t.ok
	}
	t.ok, t.known = success, true
	return true, success
}

// What is wrong with a probe.
var (
	errProbe  = errors.New("only probes of HTTP and of TCP are supported")
	errStatus = errors.New("HTTP status")
	errPort   = errors.New("no port of this name")
)

func (c *container) request(ctx context.Context, p *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(1, p.TimeoutSeconds))*time.Second)
	defer cancel()
	switch {
	case p.HTTPGet != nil:
		return c.get(ctx, p.HTTPGet)
	case p.TCPSocket != nil:
		return c.connect(ctx, p.TCPSocket)
	}
	c.w.k.complain(errProbe)
	return errProbe
}

func (c *container) connect(ctx context.Context, p *corev1.TCPSocketAction) error {
	address, err := c.probed(p.Port)
	if err != nil {
		return err
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// probeClient does not look at certificates, like a kubelet, and keeps nothing open.
var probeClient = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true,
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
}}

func (c *container) get(ctx context.Context, p *corev1.HTTPGetAction) error {
	address, err := c.probed(p.Port)
	if err != nil {
		return err
	}
	scheme := "http"
	if p.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+p.Path, nil)
	if err != nil {
		return err
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%w %d", errStatus, response.StatusCode)
	}
	return nil
}

// probed is where a port of the container is.
func (c *container) probed(port intstr.IntOrString) (string, error) {
	number := port.IntValue()
	if port.Type == intstr.String {
		for _, p := range c.spec.Ports {
			if p.Name == port.StrVal {
				number = int(p.ContainerPort)
			}
		}
	}
	if number == 0 {
		return "", fmt.Errorf("%w: %s", errPort, port.String())
	}
	return net.JoinHostPort(loopback(c.w.address), strconv.Itoa(number)), nil
}
