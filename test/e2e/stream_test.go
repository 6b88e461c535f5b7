package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

const (
	streamWorkers = 4
	// streamPause lets the stream be constant and leaves the processors some air.
	streamPause = 20 * time.Millisecond
)

// stream sends requests until it is ended, half of which the gate allows; the
// other half only the gate can refuse. Any other answer fails the test.
type stream struct {
	t                      *testing.T
	stop                   context.CancelFunc
	workers                sync.WaitGroup
	allowed, refused, lost atomic.Int64
}

func newStream(t *testing.T) *stream {
	ctx, stop := context.WithCancel(t.Context())
	s := &stream{t: t, stop: stop}
	e := etcd(namespace(t), "main", 3)
	must(t, as(t, world.Alice).Create(t.Context(), e))
	alice, admin := as(t, world.Alice), as(t, world.Admin)
	for range streamWorkers {
		s.workers.Go(func() {
			for ctx.Err() == nil {
				s.allow(alice, e)
				s.refuse(admin, e.Namespace)
				select {
				case <-ctx.Done():
				case <-time.After(streamPause):
				}
			}
		})
	}
	return s
}

func (s *stream) end() {
	s.stop()
	s.workers.Wait()
}

func (s *stream) allow(c client.Client, e *v1alpha1.Etcd) {
	changed := e.DeepCopy()
	resize(5)(changed)
	if err := c.Patch(s.t.Context(), changed, client.MergeFrom(e), client.DryRunAll); err != nil {
		s.lost.Add(1)
		s.t.Errorf("%s: a change that is allowed: %v", time.Now().Format(time.TimeOnly), err)
		return
	}
	s.allowed.Add(1)
}

func (s *stream) refuse(c client.Client, ns string) {
	err := c.Create(s.t.Context(), restoreOperation(ns, "rewind", "nowhere"), client.DryRunAll)
	if err == nil || !slices.Equal(script.RulesIn(err.Error()), []string{"restore-backup-of-cluster"}) {
		s.lost.Add(1)
		s.t.Errorf("%s: a change that the gate alone refuses: %v", time.Now().Format(time.TimeOnly), err)
		return
	}
	s.refused.Add(1)
}

// calls counts the API server's calls of the gate, since it started.
type calls struct{ calls, failed float64 }

func counted(t *testing.T) calls {
	t.Helper()
	text, err := shared.Client().CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	must(t, err)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	must(t, err)
	return calls{
		calls:  sum(families["apiserver_admission_webhook_request_total"], nil),
		failed: sum(families["apiserver_admission_webhook_rejection_count"], func(labels map[string]string) bool { return labels["error_type"] != "no_error" }),
	}
}

// sum adds up the counters of this product's webhooks.
func sum(family *dto.MetricFamily, wanted func(labels map[string]string) bool) (total float64) {
	for _, m := range family.GetMetric() {
		labels := map[string]string{}
		for _, pair := range m.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		if strings.HasSuffix(labels["name"], "gate.quorate.dev") && (wanted == nil || wanted(labels)) {
			total += m.GetCounter().GetValue()
		}
	}
	return total
}

// trusted shakes hands with a replica as an API server does, by the live
// configuration.
func trusted(t *testing.T, m *world.Manager) {
	t.Helper()
	configuration, err := shared.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), world.ConfigurationName, metav1.GetOptions{})
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
	d := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: world.ServiceName + "." + world.Namespace + ".svc"}}
	conn, err := d.DialContext(t.Context(), "tcp", m.Webhook)
	must(t, err)
	must(t, conn.Close())
}
