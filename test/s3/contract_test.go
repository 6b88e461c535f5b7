package s3

import (
	"errors"
	"strings"
	"testing"

	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/store/storetest"
)

// The contract, against a server that is another process.
func TestContract(t *testing.T) {
	storetest.Contract(t, func(t *testing.T) store.Store { return open(t, server.Options(folder())) })
}

func TestSettings(t *testing.T) {
	good := server.Options(folder())
	for _, c := range []struct {
		name string
		edit func(*store.Options)
		is   error
		want string
	}{
		{"no bucket", func(o *store.Options) { o.Bucket = "" }, store.ErrSettings, "settings of the object store: no bucket is named"},
		{"no key", func(o *store.Options) { o.AccessKeyID = "" }, store.ErrSettings, "settings of the object store: access key ID or secret access key is empty"},
		{"an endpoint that is no URL", func(o *store.Options) { o.Endpoint = "s3.example.com" }, store.ErrSettings,
			"settings of the object store: endpoint s3.example.com is no URL that begins with http:// or https://"},
		{"a CA that is none", func(o *store.Options) { o.CA = []byte("x") }, store.ErrSettings, "settings of the object store: the CA is no certificate in PEM"},
		{"another bucket", func(o *store.Options) { o.Bucket = "elsewhere" }, store.ErrSettings,
			"stat object a: settings of the object store: there is no bucket elsewhere"},
		{"an unknown key", func(o *store.Options) { o.AccessKeyID = "nobody" }, store.ErrSettings,
			"stat object a: settings of the object store: the store answers 404 XAdminUserNotFound: No user exists with the provided access key ID."},
		{"a wrong key", func(o *store.Options) { o.SecretAccessKey = "wrong" }, store.ErrDenied, "stat object a: denied: Forbidden"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := good
			c.edit(&o)
			s, err := store.NewS3(o)
			if err == nil {
				_, err = s.Stat(t.Context(), "a")
			}
			if !errors.Is(err, c.is) || errors.Is(err, store.ErrNotFound) || err.Error() != c.want {
				t.Errorf("said %v, want %s", err, c.want)
			}
		})
	}
}

// A bucket that is missing is not an empty one: a marker would be overlooked.
func TestMissingBucketIsNoAbsence(t *testing.T) {
	o := server.Options(folder())
	o.Bucket = "elsewhere"
	s := open(t, o)
	_, _, get := s.Get(t.Context(), "a")
	_, put := s.Put(t.Context(), "a", strings.NewReader("x"))
	_, create := s.Create(t.Context(), "a", nil)
	for what, err := range map[string]error{"get": get, "put": put, "create": create, "delete": s.Delete(t.Context(), "a"), "remove": s.Remove(t.Context(), "a", "v"), "probe": s.Probe(t.Context())} {
		if !errors.Is(err, store.ErrSettings) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, err := range s.List(t.Context(), "") {
		if !errors.Is(err, store.ErrSettings) {
			t.Errorf("list: %v", err)
		}
	}
}

// What lies in a folder of the bucket is not seen from another one, nor from above.
func TestFoldersAreApart(t *testing.T) {
	inner := server.Options(folder())
	outer := inner
	outer.Prefix = strings.TrimSuffix(inner.Prefix, inner.Prefix[strings.LastIndex(inner.Prefix, "/"):])
	beside := inner
	beside.Prefix += "0"
	if _, err := open(t, inner).Put(t.Context(), "a", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	for _, o := range []store.Options{outer, beside} {
		for info, err := range open(t, o).List(t.Context(), "") {
			t.Errorf("from %s: %s, %v", o.Prefix, info.Name, err)
		}
	}
}
