package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// failure is a world in which a call fails.
type failure struct {
	name    string
	server  func(*server)
	bundle  func(*Bundle)
	options Options
	call    func(*Node) func(context.Context) (any, error)
	restore func(*Restorer) func(context.Context) (any, error)
	kind    error
	// message has NODE for the address, TIME for each time, CUT for the end of a
	// connection.
	message string
}

// cuts are the two ways in which the kernel tells of a connection that was cut.
var cuts = regexp.MustCompile(`EOF|read tcp [\d.:]+->NODE: read: connection reset by peer`)

var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)`)

func (f failure) run(t *testing.T) {
	t.Parallel()
	b := loadBundle(t)
	s := newServer(t, b, f.server)
	if f.bundle != nil {
		f.bundle(b)
	}
	f.options.Address = s.address
	call := any1(newNode(t, b, f.options).Version)
	if f.call != nil {
		call = f.call(newNode(t, b, f.options))
	}
	if f.restore != nil {
		call = f.restore(newRestorer(t, b, f.options))
	}
	_, err := call(t.Context())
	checkFailure(t, err, f.kind, f.message, s.address)
}

func checkFailure(t *testing.T, err, kind error, message, address string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, other := range kinds() {
		if errors.Is(err, other) != (other == kind) {
			t.Errorf("errors.Is(%q): %t, want the kind %q alone", other, errors.Is(err, other), kind)
		}
	}
	got := regexp.MustCompile(regexp.QuoteMeta(address)).ReplaceAllString(err.Error(), "NODE")
	got = cuts.ReplaceAllString(got, "CUT")
	if got = times.ReplaceAllString(got, "TIME"); got != message {
		t.Errorf("got  %s\nwant %s", got, message)
	}
}

func kinds() []error {
	var all []error
	for k := range waysOut {
		all = append(all, k)
	}
	return all
}

func answerOf(err error) func(*server) {
	return func(s *server) { s.before = func(context.Context) error { return err } }
}

const (
	version  = "read the Talos version at NODE: "
	leaving  = "leave the etcd cluster at NODE: "
	wrongCA  = "; check the address and that the secrets bundle is this cluster's; a machine that was reset serves a certificate of its own"
	clocks   = "; compare the clocks of the node and of this process"
	checkNet = "; check that the machine is on and that its port is open from here"
	logs     = "; see the node's logs"
)

func TestServersOfNoUse(t *testing.T) {
	b := loadBundle(t)
	own, other := authorityOf(t, b), otherAuthority(t)
	cases := []failure{
		{name: "node of another cluster", server: servedBy(t, other, nil), kind: ErrWrongCA,
			message: version + `the certificates are of another authority: TLS handshake: tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: Ed25519 verification failure" while trying to verify candidate authority certificate "talos")` + wrongCA},
		{name: "node that does not trust this bundle", server: func(s *server) { s.config.ClientCAs = pool(other) }, kind: ErrWrongCA,
			message: version + "the certificates are of another authority: TLS handshake: remote error: tls: unknown certificate authority" + wrongCA},
		{name: "the same by TLS 1.2", server: func(s *server) { s.config.ClientCAs, s.config.MaxVersion = pool(other), tls.VersionTLS12 }, kind: ErrWrongCA,
			message: version + "the certificates are of another authority: TLS handshake: remote error: tls: unknown certificate authority" + wrongCA},
		{name: "expired certificate of the node", kind: ErrExpired,
			server:  servedBy(t, own, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
			message: version + "a certificate is not valid at this time: TLS handshake: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time TIME is after TIME" + clocks},
		{name: "expired certificate of the client", kind: ErrExpired,
			bundle:  func(b *Bundle) { b.secrets.Clock = secrets.NewFixedClock(time.Now().Add(-24 * time.Hour)) },
			message: version + "a certificate is not valid at this time: TLS handshake: remote error: tls: expired certificate" + clocks},
		{name: "clock of the node behind", kind: ErrExpired,
			server:  func(s *server) { s.config.Time = func() time.Time { return time.Now().Add(-clockSkew - time.Minute) } },
			message: version + "a certificate is not valid at this time: TLS handshake: remote error: tls: expired certificate" + clocks},
		{name: "certificate of another address", kind: ErrWrongCertificate,
			server:  servedBy(t, own, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(10, 5, 0, 1)} }),
			message: version + "a certificate is refused: TLS handshake: tls: failed to verify certificate: x509: certificate is valid for 10.5.0.1, not 127.0.0.1; reach the node by an address that its certificate names"},
		{name: "certificate of a client", kind: ErrWrongCertificate,
			server:  servedBy(t, own, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }),
			message: version + "a certificate is refused: TLS handshake: tls: failed to verify certificate: x509: certificate specifies an incompatible key usage; reach the node by an address that its certificate names"},
		{name: "another Talos cluster of the same authority", kind: ErrOtherCluster,
			server: func(s *server) { s.rename(t, "another") }, call: func(n *Node) func(context.Context) (any, error) { return any0(n.VerifyCluster) },
			message: "read the ID of the Talos cluster at NODE: the node is of another cluster: it is another, and the bundle's is " + b.ClusterID() + "; check the address and that the secrets bundle is this cluster's"},
	}
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func (s *server) rename(t *testing.T, id string) {
	info := cluster.NewInfo()
	info.TypedSpec().ClusterID = id
	info.Metadata().SetVersion(info.Metadata().Version().Next())
	if err := s.state.Destroy(t.Context(), info.Metadata()); err != nil {
		t.Fatal(err)
	}
	if err := s.state.Create(t.Context(), info); err != nil {
		t.Fatal(err)
	}
}

func TestAnswers(t *testing.T) {
	leave := func(n *Node) func(context.Context) (any, error) { return any0(n.Leave) }
	cases := []failure{
		{name: "role", call: leave, kind: ErrDenied,
			message: leaving + "the node denies it: rpc error: code = PermissionDenied desc = not authorized; use a bundle of this cluster and a role that may do it"},
		{name: "worker", server: answerOf(status.Error(codes.Unimplemented, "etcd leave is only available on control plane nodes")),
			options: Options{Role: Admin}, call: leave, kind: ErrNotControlPlane,
			message: leaving + "the node is no control plane: rpc error: code = Unimplemented desc = etcd leave is only available on control plane nodes; ask a control plane"},
		{name: "text alone", server: answerOf(errors.New("failed to leave cluster: etcdserver: unhealthy cluster")),
			options: Options{Role: Admin}, call: leave, kind: ErrFailed,
			message: leaving + "the node answers with an error: rpc error: code = Unknown desc = failed to leave cluster: etcdserver: unhealthy cluster" + logs},
		{name: "etcd of the node away", server: answerOf(status.Error(codes.Unavailable, "etcdserver: no leader")), kind: ErrFailed,
			message: version + "the node answers with an error: rpc error: code = Unavailable desc = etcdserver: no leader" + logs},
		{name: "etcd of the node silent", server: answerOf(context.DeadlineExceeded), kind: ErrLate,
			message: version + "the node ran out of time: rpc error: code = DeadlineExceeded desc = context deadline exceeded; ask again, and see the node's console if it stays so"},
		{name: "member without an ID", kind: ErrNotFound, server: func(s *server) {
			_ = s.state.Destroy(context.Background(), etcd.NewMember(etcd.NamespaceName, etcd.LocalMemberID).Metadata())
		}, call: func(n *Node) func(context.Context) (any, error) { return any1(n.MemberID) },
			message: "read the ID of the node's own member at NODE: the node has no such thing: rpc error: code = NotFound desc = resource EtcdMembers.etcd.talos.dev(etcd/local@undefined) doesn't exist; it is there once the service that owns it is healthy"},
	}
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func TestNoAnswer(t *testing.T) {
	var cut, half *server
	cases := []failure{
		{name: "silent", server: func(s *server) { s.before = silence }, options: Options{Timeouts: Timeouts{Read: 200 * time.Millisecond}}, kind: ErrUnreachable,
			message: version + "no answer from the node: silent for 200ms: context deadline exceeded" + checkNet},
		{name: "cut before the answer", server: func(s *server) { cut = s; s.before = func(ctx context.Context) error { return cut.cut(ctx) } }, kind: ErrUnreachable,
			message: version + "no answer from the node: rpc error: code = Unavailable desc = error reading from server: CUT" + checkNet},
		{name: "cut in the middle of a stream", server: func(s *server) { half = s; s.halfway = func(ctx context.Context) error { return half.cut(ctx) } },
			options: Options{Role: Admin}, call: func(n *Node) func(context.Context) (any, error) { return any1(n.BootID) }, kind: ErrUnreachable,
			message: "read the boot ID at NODE: no answer from the node: rpc error: code = Unavailable desc = error reading from server: CUT" + checkNet},
	}
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}
