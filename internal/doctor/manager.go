package doctor

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// wanted replicas: with one, a drained node is a gate that refuses everything.
const wantedReplicas = 2

func checkManager(ctx context.Context, c Config) []Finding {
	name := c.Names.Namespace + "/" + c.Names.Deployment
	missing := Finding{Failed, fmt.Sprintf("there is no Deployment %s", name), "Install the manifests: kubectl apply -k manifests/default."}
	deployment, problem := one(ctx, c, "the Deployment "+name, "get deployments.apps in "+c.Names.Namespace, missing,
		func(ctx context.Context) (*appsv1.Deployment, error) {
			return c.Kube.AppsV1().Deployments(c.Names.Namespace).Get(ctx, c.Names.Deployment, metav1.GetOptions{})
		})
	if problem != nil {
		return []Finding{*problem}
	}
	findings := []Finding{judgeReplicas(deployment)}
	budgets, err := read(ctx, c, func(ctx context.Context) (*policyv1.PodDisruptionBudgetList, error) {
		return c.Kube.PolicyV1().PodDisruptionBudgets(c.Names.Namespace).List(ctx, metav1.ListOptions{})
	})
	if err != nil {
		return append(findings, c.unread("the PodDisruptionBudgets of "+c.Names.Namespace, "list poddisruptionbudgets.policy in "+c.Names.Namespace, err))
	}
	return append(findings, judgeBudgets(deployment, budgets.Items))
}

func judgeReplicas(d *appsv1.Deployment) Finding {
	asked := int32(1)
	if d.Spec.Replicas != nil {
		asked = *d.Spec.Replicas
	}
	ready := d.Status.ReadyReplicas
	seen := fmt.Sprintf("%d of %d replicas are ready", ready, asked)
	switch {
	case ready == 0:
		return Finding{Failed, seen + ", so every gated change is refused",
			fmt.Sprintf("Look at the pods: kubectl -n %s describe pods; then at their logs.", d.Namespace)}
	case asked < wantedReplicas:
		return Finding{Warning, seen + ", and one replica is down whenever its node is drained",
			fmt.Sprintf("Run at least %d: kubectl -n %s scale deployment %s --replicas=%d.", wantedReplicas, d.Namespace, d.Name, wantedReplicas)}
	case ready < asked:
		return Finding{Warning, seen, fmt.Sprintf("Look at the pods that are not: kubectl -n %s get pods.", d.Namespace)}
	}
	return Finding{State: OK, Seen: seen}
}

func judgeBudgets(d *appsv1.Deployment, budgets []policyv1.PodDisruptionBudget) Finding {
	pods := labels.Set(d.Spec.Template.Labels)
	for _, b := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || !selector.Matches(pods) {
			continue
		}
		if b.Spec.MinAvailable == nil && b.Spec.MaxUnavailable == nil {
			continue
		}
		return Finding{State: OK, Seen: fmt.Sprintf("PodDisruptionBudget %s keeps an eviction from taking all of them", b.Name)}
	}
	return Finding{Warning, "no PodDisruptionBudget covers the manager's pods, so a drain may take all of them at once",
		"Install the one of the manifests: kubectl apply -k manifests/default."}
}
