package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/guard/rejoin"
)

// DefaultListTimeout is how long a cluster may take to answer with its members. A
// member without quorum answers nothing; etcd's own limit is longer (7 s).
const DefaultListTimeout = 5 * time.Second

// answer is one endpoint's.
type answer struct {
	live rejoin.Live
	err  error
}

// list asks every endpoint at once for a linearizable member list. The first one
// of the wanted cluster counts; where another cluster answers too, or only that,
// its list is the answer of last resort. Wanted is 0 if any will do. A cluster that
// does not let this member ask is not silent: it denies.
func (c *Config) list(ctx context.Context, timeout time.Duration, wanted rejoin.ID) (rejoin.Live, error) {
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	endpoints := c.endpoints()
	answers := make(chan answer, len(endpoints))
	for _, endpoint := range endpoints {
		go func() {
			live, err := c.ask(asking, endpoint)
			answers <- answer{live, err}
		}()
	}
	var other rejoin.Live
	var errs []error
	for range endpoints {
		a := <-answers
		switch {
		case errors.Is(a.err, ErrConfig):
			return rejoin.Live{}, a.err
		case errors.Is(a.err, errDenied):
			other.Denied, other.Why = !other.Answered, a.err.Error()
		case a.err != nil:
			errs = append(errs, a.err)
		case wanted == 0 || a.live.ClusterID == wanted:
			return a.live, nil
		default:
			other = a.live
		}
	}
	if ctx.Err() != nil {
		return rejoin.Live{}, fmt.Errorf("list the members: %w", context.Cause(ctx))
	}
	if other.Answered || other.Denied {
		return other, nil
	}
	return rejoin.Live{Why: silence(errs)}, nil
}

func silence(errs []error) string {
	if len(errs) == 0 {
		return "there is no endpoint to ask"
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return strings.Join(texts, "; ")
}

const (
	// askEvery is how often an endpoint is asked that does not answer: names and
	// routes of a pod that has just begun may need a moment, and silence weighs much.
	askEvery = 250 * time.Millisecond
	// askFor bounds one question. The next one takes a connection of its own, which a
	// Service may lead to a member that can answer.
	askFor = 2 * time.Second
)

// errDenied: the cluster answers, and does not let this member ask.
var errDenied = errors.New("denied")

// ask asks until the endpoint answers or the context ends, and then says what was
// wrong the last time.
func (c *Config) ask(ctx context.Context, endpoint string) (rejoin.Live, error) {
	var last error
	for {
		live, err := c.askOnce(ctx, endpoint)
		if err == nil || errors.Is(err, ErrConfig) || errors.Is(err, errDenied) {
			return live, err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return rejoin.Live{}, last
		case <-time.After(askEvery):
		}
	}
}

func (c *Config) askOnce(ctx context.Context, endpoint string) (rejoin.Live, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	client, err := c.connect(ctx, endpoint)
	if err != nil {
		return rejoin.Live{}, err
	}
	defer client.Close()
	response, err := direct(client).MemberList(ctx)
	switch {
	case err == nil:
		live := liveOf(response)
		live.Endpoint = endpoint
		return live, nil
	case errors.Is(err, rpctypes.ErrPermissionDenied), errors.Is(err, rpctypes.ErrUserEmpty), errors.Is(err, rpctypes.ErrInvalidAuthToken):
		return rejoin.Live{}, fmt.Errorf("%w by %s: %s", errDenied, endpoint, why(err))
	}
	return rejoin.Live{}, fmt.Errorf("%s: %s", endpoint, why(err))
}

func liveOf(response *clientv3.MemberListResponse) rejoin.Live {
	live := rejoin.Live{Answered: true, ClusterID: rejoin.ID(response.Header.ClusterId)}
	for _, m := range response.Members {
		live.Members = append(live.Members, rejoin.Member{
			ID: rejoin.ID(m.ID), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.IsLearner,
		})
	}
	return live
}
