package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/quorate/quorate/guard/restoring"
)

// Credentials that last for a time are sent with their token.
func TestRestoreRecoverSessionToken(t *testing.T) {
	var token string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("X-Amz-Security-Token")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_SESSION_TOKEN": "for a time"} {
		t.Setenv(name, value)
	}
	o := recoverOptions{store: "s3://backups/prod", endpoint: server.URL, region: "us-east-1"}
	if is := o.at(); is == nil || *is != (restoring.StoreSettings{Endpoint: server.URL, Region: "us-east-1", Bucket: "backups", Prefix: "prod"}) {
		t.Errorf("the store is at %+v", is)
	}
	at, err := o.open()
	check(t, err)
	if _, err := at.Stat(t.Context(), "etcd-restore.marker.json"); err == nil || token != "for a time" {
		t.Errorf("got %v, and the token %q", err, token)
	}
}
