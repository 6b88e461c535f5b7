package why

import (
	"strings"
	"testing"
)

func TestWriteTable(t *testing.T) {
	report := Report{Cases: []Case{
		{Object: "etcds.quorate.dev/a", Namespace: "data", Operation: "UPDATE", Subresource: "scale", User: "alice", Verdict: Deny,
			Rows: []Row{{Layer: LayerRBAC, Verdict: Allow, Source: FromServer},
				{Layer: LayerCRD, Verdict: Deny, Rule: "scale-out-blocked", Field: "spec.replicas", Message: "No. (scale-out-blocked)", Source: FromServer},
				{Layer: LayerWebhook, Verdict: NotReached, Source: FromServer}},
			Warnings: []string{"even"}, Notes: []string{"nobody"}},
		{Object: "namespaces/x", Operation: "CREATE", Verdict: Deny,
			Rows: []Row{{Layer: LayerQuota, Verdict: Deny, By: "few", Message: "too many", Source: FromServer}}},
	}}
	var out strings.Builder
	if err := report.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	const want = `UPDATE of etcds.quorate.dev/a/scale in data by alice: deny
LAYER    VERDICT      SOURCE  RULE               MESSAGE
rbac     allow        server  -                  -
crd      deny         server  scale-out-blocked  spec.replicas: No. (scale-out-blocked)
webhook  not reached  server  -                  -
warning: even
note: nobody

CREATE of namespaces/x: deny
LAYER  VERDICT  SOURCE  RULE  MESSAGE
quota  deny     server  few   too many
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
