package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"golang.org/x/sync/errgroup"

	"github.com/quorate/quorate/guard/rejoin"
)

const (
	// readyTimeout bounds the read behind a probe.
	readyTimeout    = 2 * time.Second
	shutdownTimeout = 5 * time.Second
	headerTimeout   = 5 * time.Second
)

// Serve answers probes at the address, promotes the member, and keeps etcd's
// configuration true, until the context ends. /readyz answers 200 if the member serves a linearizable read, 503 with the
// reason if not; /healthz always answers 200.
func (a *Agent) Serve(ctx context.Context, address string) error {
	if _, _, err := a.load(); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve probes: %w", err)
	}
	server := &http.Server{Handler: a.probes(), ReadHeaderTimeout: headerTimeout}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve probes: %w", err)
		}
		return nil
	})
	group.Go(func() error { a.Promote(ctx); return nil })
	group.Go(func() error { a.Keep(ctx); return nil })
	group.Go(func() error {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return server.Shutdown(ending)
	})
	return group.Wait()
}

func (a *Agent) probes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := a.Ready(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	return mux
}

// Ready reads linearizably through the member itself: it has a quorum behind it
// and is no learner. A read that the member may not do has come as far.
func (a *Agent) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	c, id, err := a.load()
	if err != nil {
		return err
	}
	client, err := c.connect(ctx, id.ClientURLs...)
	if err != nil {
		return err
	}
	defer client.Close()
	response, err := direct(client).Get(ctx, "health")
	if err == nil {
		return c.itself(rejoin.ID(response.Header.MemberId))
	}
	if errors.Is(err, rpctypes.ErrPermissionDenied) || errors.Is(err, rpctypes.ErrUserEmpty) {
		return nil
	}
	return fmt.Errorf("read through %v: %s", id.ClientURLs, why(err))
}

// errSomebodyElse: a stale name or a shared URL led to another member.
var errSomebodyElse = errors.New("another member answers at the own client URLs")

func (c *Config) itself(answered rejoin.ID) error {
	if disk := rejoin.ReadDisk(c.DataDir); disk.State == rejoin.HasWAL && disk.MemberID != answered {
		return fmt.Errorf("%w: %s, and the disk is of %s", errSomebodyElse, answered, disk.MemberID)
	}
	return nil
}
