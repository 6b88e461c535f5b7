package script

import (
	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
)

const pretend = `kubectl patch etcd/main --subresource=status --type=merge -p '{"status":{"conditions":[]}}'`

var mainLeaving = Busy(v1alpha1.ScaleIn, 5, 3).records("etcd/main", "ScaleOperationInProgress is True, ScalingIn from 5 to 3")

var status = Section{
	Title: "Who writes the status",
	Line:  "The rules go by what the controller has recorded, so nobody else records it, an administrator neither.",
	Steps: []Step{
		{
			Name: "a stranger writes the status", Before: []Action{mainLeaving}, As: Admin, Command: pretend,
			Want: refused("status-is-ours", "Writing condition ScaleOperationInProgress, BootstrappedWithExistingCluster or Stalled", "the controller alone records them", "Change spec instead, and the controller follows"),
		},
		{
			Name: "a stranger writes the rest of it", As: Admin,
			Command: `kubectl patch etcd/main --subresource=status --type=merge -p '{"status":{"selector":"app=etcd"}}'`,
			Want:    allowed("patched"),
		},
		{Name: "the controller writes the status", As: Controller, Command: pretend, Want: allowed("patched")},
		{Name: "the controller writes the object", As: Controller, Command: "kubectl annotate etcd/main example.com/seen=yes", Want: allowed("annotated")},
		{Name: "the controller writes the scale", As: Controller, Command: "kubectl scale etcd/main --replicas=5", Want: allowed("scaled")},
		{Name: "back to 3", Command: "kubectl scale etcd/main --replicas=3", Want: allowed("scaled")},
	},
}

const (
	toFive      = `kubectl patch etcd/main --type=merge -p '{"spec":{"replicas":5}}'`
	invalidText = `The Etcd "main" is invalid: spec.replicas: Forbidden: Scaling out from 3 to 5 replicas is refused`
	policyText  = "ValidatingAdmissionPolicy 'quorate-etcds' with binding 'quorate-etcds' denied request: Scaling out from 3 to 5 replicas is refused"
)

var layers = Section{
	Title: "Three layers, one verdict",
	Line:  "The same rule stands in the CRD, in the webhook and in a policy. Each refuses by itself, in the same words; kubectl prints the first two alike.",
	Steps: []Step{
		{Name: "no layer at all", Before: []Action{mainLeaving, Enforces{}}, Command: toFive + " --dry-run=server", Want: allowed("patched")},
		{Name: "the CRD alone", Before: []Action{Enforces{cel.LayerCRD}}, Command: toFive, Want: refused("scale-out-blocked", invalidText, waitForEnd)},
		{Name: "the webhook alone", Before: []Action{Enforces{cel.LayerWebhook}}, Command: toFive, Want: refused("scale-out-blocked", invalidText, waitForEnd)},
		{Name: "the webhook alone on scale", Command: "kubectl scale etcd/main --replicas=5", Want: refused("scale-out-blocked", "from 3 to 5 replicas", waitForEnd)},
		{Name: "the policy alone", Before: []Action{Enforces{cel.LayerVAP}}, Command: toFive, Want: refused("scale-out-blocked", policyText, waitForEnd)},
		{Name: "a policy cannot see behind scale", Command: "kubectl scale etcd/main --replicas=5 --dry-run=server", Want: allowed("scaled")},
		{
			Name: "all three again", Before: []Action{Enforces{cel.LayerCRD, cel.LayerWebhook, cel.LayerVAP}},
			Command: toFive, Want: refused("scale-out-blocked", invalidText, waitForEnd),
		},
	},
}

const ticket = "kubectl annotate etcd/main --overwrite example.com/ticket="

var closed = Section{
	Title: "The gate is gone",
	Line:  "Without the webhook nobody changes what it guards, but for the controller; and nothing else is held up.",
	Steps: []Step{
		{
			Name: "a user's change", Before: []Action{Stops{}}, Command: ticket + "4712",
			Want: Want{Refused: true, Says: []string{"failed calling webhook"}},
		},
		{Name: "the controller's change", As: Controller, Command: ticket + "4713", Want: allowed("annotated")},
		{Name: "somebody else's objects", As: Admin, Command: "kubectl create configmap not-ours", Want: allowed("created")},
		{Name: "the gate is back", Before: []Action{Starts{}}, Command: ticket + "4714", Want: allowed("annotated")},
	},
}
