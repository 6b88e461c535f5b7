package snapshot

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bundleYAML is a real bundle. The contract is one whose service account has a key
// that is made quickly; nothing here uses it.
var bundleYAML = sync.OnceValues(func() ([]byte, error) {
	b, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(b)
})

func bundleOf(t testing.TB) []byte {
	t.Helper()
	data, err := bundleYAML()
	must(t, err)
	return data
}

func keyFor(t testing.TB) *Key {
	t.Helper()
	k, err := DeriveKey(bundleOf(t))
	must(t, err)
	return k
}

// summedOf is a snapshot of size bytes of database, of random content.
func summedOf(t testing.TB, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	_, err := rand.Read(data)
	must(t, err)
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

func sealed(t testing.TB, plain []byte, k *Key) ([]byte, Sealed) {
	t.Helper()
	var out bytes.Buffer
	s, err := Seal(&out, bytes.NewReader(plain), k)
	must(t, err)
	return out.Bytes(), s
}

func sumOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// What is sealed is opened again, and Verify finds the same sums as Seal.
func TestSealedIsOpened(t *testing.T) {
	k := keyFor(t)
	for _, size := range []int{512, 4096, 1 << 16, 1<<16 - 512, 1<<16 + 512, 3 << 20} {
		plain := summedOf(t, size)
		object, got := sealed(t, plain, k)
		want := Sealed{PlainSize: int64(len(plain)), Size: int64(len(object)), PlainSum: sumOf(plain), Sum: sumOf(object)}
		if got != want {
			t.Errorf("%d bytes: sealed as %+v, want %+v", size, got, want)
		}
		verified, err := Verify(bytes.NewReader(object), k)
		must(t, err)
		if verified != want {
			t.Errorf("%d bytes: verified as %+v, want %+v", size, verified, want)
		}
		r, err := Open(bytes.NewReader(object), k)
		must(t, err)
		back, err := io.ReadAll(r)
		must(t, err)
		if !bytes.Equal(back, plain) {
			t.Errorf("%d bytes: what is opened is not what was sealed", size)
		}
		if bytes.Contains(object, plain[:64]) || !strings.HasPrefix(string(object), "age-encryption.org/") {
			t.Errorf("%d bytes: the object is not encrypted", size)
		}
	}
}
