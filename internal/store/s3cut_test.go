package store_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/quorate/quorate/internal/store"
)

// A source that was cut off is not stored as if that were its end, whatever its error is.
func TestBucketStoresNothingThatIsCutOff(t *testing.T) {
	var stored []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stored = append(stored, r.Method+" "+r.URL.Path)
		w.Header().Set("ETag", `"1"`)
	}))
	defer server.Close()
	s, err := store.NewS3(store.Options{Endpoint: server.URL, Bucket: "backups", AccessKeyID: "id", SecretAccessKey: "key"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []error{io.ErrUnexpectedEOF, fmt.Errorf("read the snapshot: %w", io.ErrUnexpectedEOF), fmt.Errorf("read the snapshot: %w", io.EOF), errors.New("reset")} {
		_, err := s.Put(t.Context(), "a", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(cut)))
		if !errors.Is(err, cut) || len(stored) > 0 {
			t.Errorf("%v: got %v, and %v was asked for", cut, err, stored)
		}
	}
	if info, err := s.Put(t.Context(), "a", strings.NewReader("whole")); err != nil || info.Size != 5 || len(stored) != 1 {
		t.Errorf("got %+v, %v, and %v was asked for", info, err, stored)
	}
}
