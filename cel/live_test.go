package cel

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/util/diff"
)

func TestLiveReads(t *testing.T) {
	reads := func(id string, live map[string]LiveRead, change func(*Rule)) *Rule {
		return webhookRule(id, "spec", "true", func(r *Rule) {
			r.Live = live
			if change != nil {
				change(r)
			}
		})
	}
	cluster := LiveRead{Resource: "clusters", Name: "self.name"}
	e := widgetEngine(t,
		reads("one", map[string]LiveRead{"cluster": cluster, "peers": {Resource: "widgets"}}, nil),
		reads("two", map[string]LiveRead{"cluster": cluster, "user": {Resource: "users", Name: "request.userInfo.username"}}, nil),
		reads("gone", map[string]LiveRead{"old": {Resource: "clusters", Name: "oldSelf.name"}}, func(r *Rule) { r.Operations = []Operation{Delete} }),
		webhookRule("none", "spec", "true", nil))
	update := func(spec string) *Request {
		r := widgetRequest(t, "spec: {name: before}", "spec: "+spec)
		r.Namespace, r.User.Username = "ns", "ann"
		return r
	}
	status := update("{name: a}")
	status.Subresource = Status
	del := update("{name: a}")
	del.Operation, del.Object = Delete, nil
	stranger := update("{name: a}")
	stranger.Object["apiVersion"] = "other.com/v1"
	for name, tc := range map[string]struct {
		r    *Request
		want map[string]LiveTarget
		err  string
	}{
		"of all rules that apply": {r: update("{name: a}"), want: map[string]LiveTarget{
			"cluster": {"clusters", "ns", "a"}, "peers": {"widgets", "ns", ""}, "user": {"users", "ns", "ann"}}},
		"of a delete":          {r: del, want: map[string]LiveTarget{"old": {"clusters", "ns", "before"}}},
		"none for status":      {r: status},
		"none elsewhere":       {r: &Request{Resource: "gadgets"}},
		"an absent name":       {r: update("{size: 1}"), err: "rule one: tell what live.cluster is: no such key: name"},
		"an empty name":        {r: update("{name: ''}"), err: "rule one: tell what live.cluster is: the expression gives no name: "},
		"a name that is a 1":   {r: update("{name: 1}"), err: "rule one: tell what live.cluster is: the expression gives no name: 1"},
		"half a request":       {r: &Request{Resource: "widgets", Operation: Update}, err: "the request cannot be judged: UPDATE without object"},
		"a stranger's version": {r: stranger, err: `the request cannot be judged: no rules for apiVersion "other.com/v1"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := e.LiveReads(tc.r)
			wantText(t, errorText(err), tc.err)
			if text := diff.Diff(tc.want, got); text != "" {
				t.Errorf("reads (- want, + got):\n%s", text)
			}
		})
	}
	if _, err := e.LiveReads(update("{name: ''}")); !errors.Is(err, ErrNoName) {
		t.Error("no sentinel")
	}
}
