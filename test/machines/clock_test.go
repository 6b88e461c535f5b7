package machines

import (
	"bytes"
	"crypto/rand"
	stdx509 "crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// notValid is what a machine says of a certificate, be it the node's, the client's or an
// authority's, and of a clock.
const notValid = "a certificate is not valid at this time"

// noAct wants no node to have been asked to change anything.
func (f *fleet) noAct() {
	f.t.Helper()
	for _, c := range f.talos.Calls() {
		if changes(c.Method) {
			f.t.Errorf("a node was asked:%s", tell([]talos.Call{c}))
		}
	}
}

// A node whose clock is far ahead takes our certificate for expired, and one far behind
// for not yet valid. The machine says so, and its deletion touches nothing before the
// clock is right.
func TestClockOfANode(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	n, id := f.talos.Node("cp-3"), f.id("cp-3")
	restore := n.SetClock(-365 * 24 * time.Hour)
	f.unready("cp-3", v1alpha1.ReasonMachineUnreachable, notValid, "compare the clocks")
	restore()
	f.readyMachine("cp-3")
	restore = n.SetClock(365 * 24 * time.Hour)
	f.unready("cp-3", v1alpha1.ReasonMachineUnreachable, notValid, "compare the clocks")
	f.readyMachine("cp-1")
	f.count(1)
	f.delete("cp-3")
	f.removal("cp-3", v1alpha1.ReasonEtcdMemberRemovalFailed, n.IP, notValid)
	f.nothingHappens()
	f.noAct()
	restore()
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
}

// The authorities in the Secret's bundle have expired, and so have the client certificates
// that they sign: every machine says so, and a deletion touches nothing until the bundle
// is right again.
//
// covers: B-13
func TestBundleThatHasExpired(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	f.count(1)
	f.keys(expired(t, f.talos.Bundle()))
	for _, n := range f.talos.Nodes() {
		f.unready(n.Name, v1alpha1.ReasonMachineUnreachable, notValid)
	}
	must(t, f.deleteAs(controller, "cp-3")) // admission goes by a report that ends with the bundle
	f.removal("cp-3", v1alpha1.ReasonEtcdMemberRemovalFailed, "certificate")
	f.nothingHappens()
	f.noAct()
	f.keys(f.talos.Bundle())
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
}

// expired is the bundle with authorities that have the same keys and ended yesterday.
func expired(t *testing.T, bundle []byte) []byte {
	t.Helper()
	b := &secrets.Bundle{Clock: secrets.NewClock()}
	must(t, yaml.NewDecoder(bytes.NewReader(bundle)).Decode(b))
	for _, ca := range []*x509.PEMEncodedCertificateAndKey{b.Certs.OS, b.Certs.Etcd} {
		ca.Crt = ended(t, ca)
	}
	out, err := yaml.Marshal(b)
	must(t, err)
	return out
}

func ended(t *testing.T, ca *x509.PEMEncodedCertificateAndKey) []byte {
	t.Helper()
	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(ca)
	must(t, err)
	crt := *authority.Crt
	crt.NotBefore, crt.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	crt.SignatureAlgorithm = stdx509.UnknownSignatureAlgorithm // by the key
	der, err := stdx509.CreateCertificate(rand.Reader, &crt, &crt, crt.PublicKey, authority.Key)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
