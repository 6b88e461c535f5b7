package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// What a run can be told by its environment.
const (
	seedVariable = "QUORATE_CHAOS_SEED" // a number; the clock's if it is empty
	forVariable  = "QUORATE_CHAOS_FOR"  // a Go duration
	defaultFor   = 90 * time.Second
	// homeFor is how long an Etcd may take to be well again once nobody kills any more.
	homeFor = 5 * time.Minute
	// spare is what a run may take besides: its world, and what it checks.
	spare = 10 * time.Minute
)

// How many clients there are of a kind. Half of the workers know the Service, as
// programs do, and half know the members, as some do.
const (
	workers = 6
	ledgers = 2
)

func settings(t *testing.T) (seed uint64, lasts time.Duration) {
	t.Helper()
	seed, lasts = uint64(time.Now().UnixNano()), defaultFor
	var errs [2]error
	if text := os.Getenv(seedVariable); text != "" {
		seed, errs[0] = strconv.ParseUint(text, 10, 64)
	}
	if text := os.Getenv(forVariable); text != "" {
		lasts, errs[1] = time.ParseDuration(text)
	}
	must(t, errors.Join(errs[:]...))
	return seed, lasts
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run is one run: its parts, and what they came to.
type run struct {
	t       *testing.T
	seed    uint64
	tally   *tally
	meter   *meter
	book    *book
	walker  *walker
	killer  *killer
	auditor *auditor
	workers []*worker
	ledgers []*ledger
	members map[string]*clientv3.Client
	etcd    *clientv3.Client
}

// One Etcd is walked between 0, 1, 3 and 5 members while members, manager and API
// server are killed. What its clients saw is linearizable, nothing that was
// acknowledged is lost, and it ends well by itself.
//
//
func TestChaos(t *testing.T) {
	seed, lasts := settings(t)
	told := fmt.Sprintf("%s=%d %s=%s", seedVariable, seed, forVariable, lasts)
	fmt.Println(told)
	t.Log(told)
	ctx, cancel := context.WithTimeout(t.Context(), lasts+homeFor+spare)
	defer cancel()
	end, err := begin(ctx)
	must(t, err)
	defer func() {
		if t.Failed() {
			t.Log(story(context.WithoutCancel(ctx)))
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	must(t, plant(ctx))
	r := newRun(t, seed)
	must(t, r.walker.comeHome(ctx))
	r.play(ctx, lasts)
	r.verify(ctx)
	r.provesItself(ctx)
}

func newRun(t *testing.T, seed uint64) *run {
	t.Helper()
	r := &run{t: t, seed: seed, tally: newTally(t), meter: newMeter(), book: newBook(), members: map[string]*clientv3.Client{}}
	r.walker = &walker{random: stream(seed, 1), tally: r.tally, meter: r.meter}
	r.killer = &killer{random: stream(seed, 2), tally: r.tally}
	r.etcd = r.client(serviceURL())
	r.auditor = &auditor{book: r.book, look: lookIn(r.etcd)}
	for i := range workers {
		urls := []string{serviceURL()}
		if i%2 == 1 {
			urls = memberURLs()
		}
		r.workers = append(r.workers, &worker{
			number: i, etcd: r.client(urls...), book: r.book, meter: r.meter, random: stream(seed, uint64(10+i)), seen: map[string]string{},
		})
	}
	for i := range ledgers {
		r.ledgers = append(r.ledgers, &ledger{name: strconv.Itoa(i), etcd: r.client(memberURLs()...), meter: r.meter, unknown: map[int]bool{}})
	}
	for _, url := range memberURLs() {
		r.members[url] = r.client(url)
	}
	return r
}

func (r *run) client(urls ...string) *clientv3.Client {
	r.t.Helper()
	c, err := connect(urls...)
	must(r.t, err)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// play lets chaos reign for a time, and clients write until the Etcd is well again.
func (r *run) play(ctx context.Context, lasts time.Duration) {
	r.t.Helper()
	*r.meter = *newMeter()
	writing, hush := context.WithCancel(ctx)
	defer hush()
	var clients, judges sync.WaitGroup
	for _, w := range r.workers {
		clients.Go(func() { w.run(writing) })
	}
	for _, l := range r.ledgers {
		clients.Go(func() { l.run(writing) })
	}
	clients.Go(func() { r.meter.watch(writing, r.members) })
	var verdict error
	judges.Go(func() { verdict = r.auditor.run(ctx) })

	r.reign(ctx, lasts)
	calm := time.Now()
	if err := r.walker.comeHome(within(ctx, r.t, homeFor)); err != nil {
		r.t.Error(err)
	}
	r.t.Logf("well again %s after the last attack", time.Since(calm).Round(100*time.Millisecond))
	hush()
	clients.Wait()
	r.book.close()
	judges.Wait()
	if verdict != nil {
		r.t.Error(verdict)
	}
}

func within(ctx context.Context, t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	t.Cleanup(cancel)
	return ctx
}

func (r *run) reign(ctx context.Context, lasts time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	var both sync.WaitGroup
	both.Go(func() { r.walker.run(ctx) })
	both.Go(func() {
		if err := r.killer.run(ctx); err != nil {
			r.t.Error(err)
		}
	})
	both.Wait()
}

// verify looks for what was acknowledged, and reports.
func (r *run) verify(ctx context.Context) {
	acknowledged := 0
	for _, l := range r.ledgers {
		acknowledged += l.acknowledged()
		if err := l.check(ctx); err != nil {
			r.t.Error(err)
		}
	}
	if err := r.auditor.check(ctx); err != nil {
		r.t.Error(err)
	}
	if acknowledged == 0 || r.auditor.operations == 0 {
		r.t.Error("nothing was written")
	}
	r.t.Logf("seed %d: %s", r.seed, r.tally)
	r.t.Logf("%d rounds with %d operations judged; %s; ledger: %d keys acknowledged and looked for", r.auditor.rounds, r.auditor.operations, list(r.book.counts), acknowledged)
	r.t.Log(r.meter.report())
}

// provesItself plants a stale read in what was just judged, and loses a write: a run
// that would not see them proves nothing.
func (r *run) provesItself(ctx context.Context) {
	last := r.auditor.last
	value := ""
	for _, o := range last {
		if in := o.Input.(request); in.do == write && !o.Output.(response).unknown && in.new != "" {
			now := r.book.now()
			again := request{key: in.key, do: write, new: "planted"}
			last = append(last, porcupine.Operation{Input: again, Call: now, Output: response{done: true}, Return: now + 1},
				porcupine.Operation{Input: request{key: in.key, do: read}, Call: now + 2, Output: response{value: in.new}, Return: now + 3})
			value = in.new
			break
		}
	}
	if err := judge(last, judgeFor); value == "" || !errors.Is(err, errIllegal) {
		r.t.Errorf("a planted stale read of %q: %v, want %v", value, err, errIllegal)
	}
	l := r.ledgers[0]
	for n := range l.tried {
		if !l.unknown[n] {
			_, err := r.etcd.Delete(within(ctx, r.t, callTimeout), l.key(n))
			must(r.t, err)
			break
		}
	}
	if err := l.check(ctx); !errors.Is(err, errLost) {
		r.t.Errorf("with a key deleted: %v, want %v", err, errLost)
	}
}
