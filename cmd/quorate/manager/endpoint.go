package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of the plain endpoints; a probe or a scrape is small and short.
const (
	endpointTimeout = 5 * time.Second
	endpointEnd     = 2 * time.Second
)

// endpoint is a plain HTTP server beside the webhook.
type endpoint struct {
	name, address string
	handler       http.Handler
}

// healthEndpoint answers /healthz while the process runs, and /readyz while the
// webhook can be called; a refusal says why.
func healthEndpoint(address string, ready func(*http.Request) error) *endpoint {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	return &endpoint{name: "probes", address: address, handler: mux}
}

func metricsEndpoint(address string, registry *prometheus.Registry) *endpoint {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	return &endpoint{name: "metrics", address: address, handler: mux}
}

// serve answers until the context ends.
func (e *endpoint) serve(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", e.address)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", e.name, err)
	}
	server := &http.Server{
		Handler: e.handler, ReadHeaderTimeout: endpointTimeout, ReadTimeout: endpointTimeout, WriteTimeout: 2 * endpointTimeout,
	}
	stopped := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.Background(), endpointEnd)
		defer cancel()
		if server.Shutdown(end) != nil {
			_ = server.Close()
		}
	})
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", e.name, err)
	}
	return nil
}
