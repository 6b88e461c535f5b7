package machine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/internal/talos"
)

// approve asks once more whether the machine may go. The rules are those of admission,
// on the world as it is now; then etcd itself is looked at. What is gone already is
// not asked about: its removal was allowed.
func (c *cycle) approve(ctx context.Context) error {
	if c.removedBefore() {
		return nil
	}
	if c.controlPlane() && c.viewErr != nil {
		return c.fail(ctx, c.unseen(ctx)) // the last report would tell what was, and blame whom it should not
	}
	refusal, err := c.refusal(ctx)
	switch {
	case err != nil:
		return err
	case refusal != "":
		return c.stuck(ctx, v1alpha1.ReasonRemovalRefused, refusal)
	case slices.Contains(underway, c.reason()), slices.Contains(stopped, c.reason()) && c.mine().approved:
		return nil
	}
	c.mine().approved = true
	c.onward(v1alpha1.ReasonRemovalApproved, "Every check has passed: the machine may go.")
	return c.persist(ctx)
}

// unseen is why there is no member list. What the machine's own API says of us may tell
// more than an etcd that cuts the connection.
func (c *cycle) unseen(ctx context.Context) string {
	text := fmt.Sprintf("The etcd cluster gives no member list: %s", conditions.OneLine(c.viewErr))
	node, err := c.Dial(c.bundle, c.machine, talos.Reader)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		err = node.VerifyCluster(ctx)
		_ = node.Close() // nothing is written through it
	}
	if err != nil {
		text += "; asked by its own API, the machine: " + conditions.OneLine(err)
	}
	return text + "."
}

// underway are the reasons of Removal that come after the checks.
var underway = []string{
	v1alpha1.ReasonRemovalApproved, v1alpha1.ReasonEvacuating, v1alpha1.ReasonDraining,
	v1alpha1.ReasonLockHeld, v1alpha1.ReasonRemovingEtcdMember,
}

// stopped are those that may have come before the checks too, when there was nobody to
// ask.
var stopped = []string{v1alpha1.ReasonEtcdMemberRemovalFailed, v1alpha1.ReasonRestoreInProgress, v1alpha1.ReasonHeldByRestore}

// removedBefore tells whether the recorded member was removed by us, and nothing of
// the machine is listed any more.
func (c *cycle) removedBefore() bool {
	e := c.machine.Status.EtcdMember
	if !c.controlPlane() || e == nil || c.view == nil {
		return false
	}
	if _, _, listed := c.target(); listed {
		return false
	}
	return slices.ContainsFunc(c.cluster.Status.RemovedMembers, func(r v1alpha1.RemovedMember) bool {
		return r.ID == e.ID && r.ClusterID == c.cluster.Status.ClusterID
	})
}

// refusal is why the machine may not go now; none if it may.
func (c *cycle) refusal(ctx context.Context) (string, error) {
	verdict, err := c.judge(ctx)
	if err != nil {
		return "", err
	}
	if text := refusalOf(verdict); text != "" {
		return text, nil
	}
	if !c.controlPlane() || c.view == nil {
		return "", nil
	}
	target, removal, listed := c.target()
	if listed && !removal.Safe {
		return fmt.Sprintf("Removing etcd member %s of machine %s is refused: %s.", target.Label(), c.machine.Name, removal.Why), nil
	}
	return "", nil
}

func refusalOf(v cel.Verdict) string {
	var texts []string
	for _, f := range v.Findings {
		texts = append(texts, f.Message)
	}
	return strings.Join(texts, " ")
}

// judge evaluates the rules of a DELETE.
func (c *cycle) judge(ctx context.Context) (cel.Verdict, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.machine)
	if err != nil {
		return cel.Verdict{}, fmt.Errorf("put the machine before the rules: %w", err)
	}
	object["apiVersion"], object["kind"] = v1alpha1.GroupVersion.String(), "TalosMachine"
	request := &cel.Request{
		Operation: cel.Delete, Resource: "talosmachines", Namespace: c.machine.Namespace, Name: c.machine.Name,
		OldObject: object, Live: map[string]any{},
	}
	targets, err := c.Judge.LiveReads(request)
	if err != nil {
		return cel.Verdict{}, fmt.Errorf("put the machine before the rules: %w", err)
	}
	for name, target := range targets {
		if request.Live[name], err = kube.Read(ctx, c.Objects, target); err != nil {
			return cel.Verdict{}, fmt.Errorf("read %s for the rules: %w", target.Resource, err)
		}
	}
	if c.view != nil {
		c.refresh(request)
	}
	return c.Judge.JudgeAs(ctx, request, false), nil
}

// refresh puts what etcd says now in the place of what was last reported of it.
func (c *cycle) refresh(request *cel.Request) {
	if cluster, ok := request.Live["cluster"].(map[string]any); ok {
		status, _ := cluster["status"].(map[string]any)
		cluster["status"] = withKey(status, "members", reported(c.view.Members))
	}
	if target, _, listed := c.target(); listed {
		status, _ := request.OldObject["status"].(map[string]any)
		request.OldObject["status"] = withKey(status, "etcdMember", map[string]any{"id": hexOf(target.ID)})
	}
}

func withKey(m map[string]any, key string, value any) map[string]any {
	if m == nil {
		m = map[string]any{}
	}
	m[key] = value
	return m
}

// reported is a member list as status.members has it.
func reported(members []guard.Member) []any {
	out := []any{}
	for _, m := range members {
		role := v1alpha1.RoleVoter
		if m.Learner {
			role = v1alpha1.RoleLearner
		}
		out = append(out, map[string]any{
			"name": m.Name, "id": hexOf(m.ID), "role": string(role), "started": m.Started, "leader": m.Leader, "healthy": m.Healthy,
		})
	}
	return out
}

func hexOf(id uint64) string { return strconv.FormatUint(id, 16) }
