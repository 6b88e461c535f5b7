package why

import (
	"reflect"
	"strings"
	"testing"
)

// short writes rows as "layer verdict source [rule or by] [message]", one a line.
func short(rows []Row) string {
	var lines []string
	for _, r := range rows {
		line := strings.Join([]string{string(r.Layer), string(r.Verdict), string(r.Source), r.Rule, r.By, r.Message}, " ")
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestAssemble(t *testing.T) {
	allowed := map[Layer][]Row{LayerCRD: passed(LayerCRD, ""), LayerVAP: passed(LayerVAP, ""), LayerWebhook: passed(LayerWebhook, "")}
	denied := map[Layer][]Row{}
	for _, layer := range []Layer{LayerCRD, LayerVAP, LayerWebhook} {
		denied[layer] = []Row{{Layer: layer, Verdict: Deny, Rule: "r", Message: "No. (r)", Source: Computed}}
	}
	failed := map[Layer][]Row{LayerCRD: {{Layer: LayerCRD, Verdict: Error, Message: "no such key", Source: Computed}}, LayerVAP: denied[LayerVAP], LayerWebhook: allowed[LayerWebhook]}
	server := func(layer Layer, verdict Outcome, by string) []Row {
		return []Row{{Layer: layer, Verdict: verdict, By: by, Source: FromServer}}
	}
	for _, tc := range []struct {
		name     string
		refusals []Row
		computed map[Layer][]Row
		want     string
	}{
		{"allowed by all", nil, allowed, `
rbac allow server
schema allow server
crd allow server
vap allow server
webhook allow server`},
		{"allowed, though this version would not", nil, denied, `
rbac allow server
schema allow server
crd allow server passed, though this version's rule r refuses it: No. (r) Is the layer installed? See quorate doctor.
vap allow server passed, though this version's rule r refuses it: No. (r) Is the layer installed? See quorate doctor.
webhook allow server passed, though this version's rule r refuses it: No. (r) Is the layer installed? See quorate doctor.`},
		{"a kind of others", nil, nil, `
rbac allow server
schema allow server
vap allow server
webhook allow server`},
		{"a kind of others, refused by a quota", server(LayerQuota, Deny, "few"), nil, `
rbac allow server
schema allow server
vap allow server
webhook allow server
quota deny server few`},
		{"a kind of others, refused by its schema", server(LayerSchema, Deny, ""), nil, `
rbac allow server
schema deny server
vap not reached server
webhook not reached server`},
		{"no right", server(LayerRBAC, Deny, ""), denied, `
rbac deny server
schema not reached server
crd deny computed r No. (r)
vap deny computed r No. (r)
webhook deny computed r No. (r)`},
		{"the CRD", server(LayerCRD, Deny, ""), denied, `
rbac allow server
schema allow server
crd deny server
vap deny computed r No. (r)
webhook deny computed r No. (r)`},
		{"our policy", server(LayerVAP, Deny, "quorate-etcds"), allowed, `
rbac allow server
schema allow server
crd allow server
vap deny server quorate-etcds
webhook allow computed`},
		{"a policy of others leaves ours open", server(LayerVAP, Deny, "other"), denied, `
rbac allow server
schema allow server
crd allow server passed, though this version's rule r refuses it: No. (r) Is the layer installed? See quorate doctor.
vap deny server other
vap deny computed r No. (r)
webhook deny computed r No. (r)`},
		{"our webhook", server(LayerWebhook, Deny, "gate.quorate.dev"), allowed, `
rbac allow server
schema allow server
crd allow server
vap allow server
webhook deny server gate.quorate.dev`},
		{"our webhook cannot be asked", server(LayerWebhook, Error, "gate.quorate.dev"), denied, `
rbac allow server
schema allow server
crd allow server passed, though this version's rule r refuses it: No. (r) Is the layer installed? See quorate doctor.
vap allow server passed, though this version's rule r refuses it: No. (r) Is the layer installed? See quorate doctor.
webhook error server gate.quorate.dev
webhook deny computed r No. (r)`},
		{"a webhook of others may come first", server(LayerWebhook, Deny, "x.example.com"), allowed, `
rbac allow server
schema not reached server
crd allow computed
vap allow computed
webhook deny server x.example.com
webhook allow computed`},
		{"a rule fails over a wrong schema", server(LayerSchema, Deny, ""), failed, `
rbac allow server
schema deny server
crd not reached server to be judged once the schema accepts the object
vap deny computed r No. (r)
webhook allow computed`},
		{"the namespace is gone", server(LayerAdmission, Deny, ""), allowed, `
rbac allow server
admission deny server
schema not reached server
crd allow computed
vap allow computed
webhook allow computed`},
		{"schema and CRD at once", append(server(LayerSchema, Deny, ""), server(LayerCRD, Deny, "")...), allowed, `
rbac allow server
schema deny server
crd deny server
vap allow computed
webhook allow computed`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := short(Assemble(tc.refusals, tc.computed)); got != strings.TrimSpace(tc.want) {
				t.Errorf("got\n%s\nwant%s", got, tc.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		verdicts []Outcome
		want     bool
	}{{nil, false}, {[]Outcome{Allow, Allow}, false}, {[]Outcome{Allow, Deny}, true}, {[]Outcome{Error}, true}} {
		var r Report
		for _, v := range tc.verdicts {
			r.Cases = append(r.Cases, Case{Verdict: v})
		}
		if r.Refused() != tc.want {
			t.Errorf("%v: got %v", tc.verdicts, r.Refused())
		}
	}
}

func TestVerdictOf(t *testing.T) {
	deny, failure := Row{Verdict: Deny}, Row{Verdict: Error}
	got := []Outcome{verdictOf(nil), verdictOf([]Row{deny}), verdictOf([]Row{deny, failure})}
	if want := []Outcome{Allow, Deny, Error}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
