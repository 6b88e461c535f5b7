package webhooks

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// While it drains, the server answers as before, but each answer ends its
// connection, and readiness is withdrawn. Only then it stops.
func TestDrain(t *testing.T) {
	r := newRunning(t, func(o *ServerOptions) { o.DrainDelay = 7 * time.Second }).start(t)
	before := r.client(t, false, 0)
	fetch(t, before, "https://"+r.addr+Path)
	r.stop()
	if d := soon(t, "the drain to begin", r.clock.waiting); d != 7*time.Second {
		t.Errorf("drains for %s", d)
	}
	if err := r.ready(); !errors.Is(err, ErrDraining) {
		t.Errorf("readiness while draining: %v", err)
	}
	for name, c := range map[string]*http.Client{"a connection from before": before, "a new connection": r.client(t, false, 0), "HTTP/2": r.client(t, true, 0)} {
		response, body := fetch(t, c, "https://"+r.addr+Path)
		if body != "answered" || response.ProtoMajor == 1 && !response.Close {
			t.Errorf("%s: close=%t: %q", name, response.Close, body)
		}
	}
	close(r.clock.release)
	if err := soon(t, "the server to stop", r.ended); err != nil {
		t.Errorf("stopped with %v", err)
	}
	if conn, err := net.Dial("tcp", r.addr); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
}

// A request that runs when the server stops is answered.
func TestStopWaitsForRequests(t *testing.T) {
	r := newRunning(t, nil)
	began, finish := make(chan struct{}), make(chan struct{})
	r.gate = func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		_, _ = io.WriteString(w, "answered late")
	}
	r.start(t)
	answered := make(chan string, 1)
	client := r.client(t, false, 0)
	go func() { answered <- bodyOf(client, "https://"+r.addr+Path) }()
	soon(t, "the request", began)
	r.stop()
	soon(t, "the drain to begin", r.clock.waiting)
	close(r.clock.release)
	close(finish)
	if body := soon(t, "the answer", answered); body != "answered late" {
		t.Errorf("got %q", body)
	}
	if err := soon(t, "the server to stop", r.ended); err != nil {
		t.Errorf("stopped with %v", err)
	}
}

// bodyOf is the body of an answer, or why there is none.
func bodyOf(c *http.Client, url string) string {
	response, err := c.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// A request without end does not keep the server for ever.
func TestStopHasADeadline(t *testing.T) {
	r := newRunning(t, func(o *ServerOptions) { o.ShutdownTimeout = 20 * time.Millisecond })
	began, finish := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(finish) })
	r.gate = func(http.ResponseWriter, *http.Request) { close(began); <-finish }
	r.start(t)
	client := r.client(t, false, 0)
	go func() { _ = bodyOf(client, "https://"+r.addr+Path) }()
	soon(t, "the request", began)
	r.stop()
	soon(t, "the drain to begin", r.clock.waiting)
	close(r.clock.release)
	if err := soon(t, "the server to stop", r.ended); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped with %v", err)
	}
}
