package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	tlsRounds    = 11
	tlsRoundTime = 150 * time.Millisecond
	// idleConnections is at least the concurrency: none is closed between requests.
	idleConnections = 32
)

// tlsRows counts requests a second over TLS and HTTP/1.1, as API servers ask: they
// spread their calls over connections.
func tlsRows(ctx context.Context) ([]Row, error) {
	s, err := newSubject()
	if err != nil {
		return nil, err
	}
	body, err := s.review()
	if err != nil {
		return nil, err
	}
	handler, err := s.gate()
	if err != nil {
		return nil, err
	}
	ours, theirs := serve(handler), serve(allowEverything())
	defer ours.Close()
	defer theirs.Close()
	var rows []Row
	for _, concurrency := range []int{1, 8, 32} {
		row, err := throughput(ctx, concurrency, body, ours, theirs)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// allowEverything reads the review and judges nothing.
func allowEverything() http.Handler {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Allowed("")
	})}
}

func serve(h http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.StartTLS()
	if t, ok := server.Client().Transport.(*http.Transport); ok {
		t.MaxIdleConnsPerHost = idleConnections
	}
	return server
}

func throughput(ctx context.Context, concurrency int, body []byte, ours, theirs *httptest.Server) (Row, error) {
	var samples [2][]float64
	for round := range tlsRounds + 1 {
		for i, server := range []*httptest.Server{ours, theirs} {
			rate, err := perSecond(ctx, concurrency, body, server)
			if err != nil {
				return Row{}, err
			}
			if round > 0 {
				samples[i] = append(samples[i], rate)
			}
		}
	}
	return compare(fmt.Sprintf("TLS, %d at once", concurrency), "requests/s", "webhook that allows everything", higher, samples[0], samples[1]), nil
}

func perSecond(ctx context.Context, concurrency int, body []byte, server *httptest.Server) (float64, error) {
	client := server.Client()
	var count atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range concurrency {
		group.Go(func() error {
			for time.Since(began) < tlsRoundTime {
				if err := ask(ctx, client, server.URL+"/gate", body); err != nil {
					return err
				}
				count.Add(1)
			}
			return nil
		})
	}
	err := group.Wait()
	return float64(count.Load()) / time.Since(began).Seconds(), err
}

func ask(ctx context.Context, client *http.Client, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the webhook: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("ask the webhook: %w", err)
	}
	defer response.Body.Close()
	return allowance(response.Body)
}
