package script

import "github.com/quorate/quorate/api/v1alpha1"

// Tries are things to try in a world that is kept running: steps of their own,
// which leave everything else alone.
func Tries() []Step {
	return []Step{
		{Name: "try: create an Etcd", Command: "kubectl apply -f -", Input: triedEtcd, Want: allowed()},
		{Name: "try: scale it", Command: "kubectl scale etcd/tried --replicas=5", Want: allowed("scaled")},
		{
			Name: "try: play the controller", As: Controller,
			Command: "kubectl patch etcd/tried --subresource=status --type=merge -p " +
				`'{"status":{"replicas":3,"conditions":[{"type":"` + v1alpha1.ConditionScaleOperationInProgress +
				`","status":"True","reason":"ScalingOut","message":"","lastTransitionTime":"2030-01-02T15:04:05Z"}]}}'`,
			Want: allowed("patched"),
		},
		{
			Name: "try: scale it back", Command: "kubectl scale etcd/tried --replicas=3",
			Want: refused("scale-in-blocked", "ScalingOut is in progress", waitForEnd),
		},
		{
			Name: "try: a control plane of 4", Command: `kubectl create -f -`, Input: factory(4),
			Want: refused("control-plane-count", "A control plane of 4 is refused", "Choose 1, 3 or 5"),
		},
		{Name: "try: what is there", Command: "kubectl get quorate -A", Want: allowed("etcd.quorate.dev/tried")},
		{Name: "try: the documentation", Command: "kubectl explain etcd.spec.replicas", Want: allowed("hibernates the cluster")},
	}
}

const triedEtcd = `apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata:
  name: tried
spec:
  replicas: 3
`
