package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func TestReview(t *testing.T) {
	spec := authorizationv1.SubjectAccessReviewSpec{User: "alice", ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "override", Group: "quorate.dev", Resource: "talosclusters"}}
	var sent authorizationv1.SubjectAccessReview
	a, err := NewAccess(server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/apis/authorization.k8s.io/v1/subjectaccessreviews" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		// The client sends protobuf, as typed clients do.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &sent); err != nil {
			t.Error(err)
		}
		answer(201, `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":true,"reason":"so be it"}}`)(w, r)
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Review(t.Context(), spec)
	if err != nil || !reflect.DeepEqual(got, authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "so be it"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if !reflect.DeepEqual(sent.Spec, spec) {
		t.Errorf("sent %+v", sent.Spec)
	}
}

func TestReviewRefused(t *testing.T) {
	a, err := NewAccess(server(t, answer(403, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not you","reason":"Forbidden","code":403}`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Review(t.Context(), authorizationv1.SubjectAccessReviewSpec{}); text(err) != "create a subject access review: not you" {
		t.Errorf("got %v", err)
	}
}

// hanging is a server that does not answer before its client gives up, which a
// server notices once it has read the body.
func hanging(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestDeadlines(t *testing.T) {
	config := server(t, hanging)
	l, err := NewLive(config, version)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAccess(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(context.Context) error{
		"get":  func(ctx context.Context) error { _, _, err := l.Get(ctx, "talosclusters", "ns", "c"); return err },
		"list": func(ctx context.Context) error { _, err := l.List(ctx, "talosclusters", "ns"); return err },
		"review": func(ctx context.Context) error {
			_, err := a.Review(ctx, authorizationv1.SubjectAccessReviewSpec{})
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func TestUnusableConfig(t *testing.T) {
	bad := &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{Insecure: true, CAData: []byte("x")}}
	if _, err := NewLive(bad, version); err == nil || !strings.HasPrefix(err.Error(), "make a live reader: ") {
		t.Errorf("live: %v", err)
	}
	if _, err := NewAccess(bad); err == nil || !strings.HasPrefix(err.Error(), "make an access reviewer: ") {
		t.Errorf("access: %v", err)
	}
}
