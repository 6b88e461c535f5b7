package main

import (
	"context"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
)

// mayOverride asks before anybody is asked to confirm what admission would refuse.
func mayOverride(ctx context.Context, kube client.Writer, namespace, cluster string) error {
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: v1alpha1.VerbOverride, Group: v1alpha1.GroupVersion.Group, Resource: "talosclusters", Name: cluster,
		}},
	}
	if err := kube.Create(ctx, review); err != nil {
		return fmt.Errorf("ask whether you may restore cluster %s: %w", cluster, err)
	}
	if !review.Status.Allowed {
		return fmt.Errorf("restoring cluster %s is refused: you do not hold the verb override on talosclusters.quorate.dev %s in namespace %s. Ask an administrator to grant it, for instance with the ClusterRole quorate-override", cluster, cluster, namespace)
	}
	return nil
}

// requester is the annotation that says who orders the operation; none if the API server
// does not tell. Admission refuses any other name.
func requester(ctx context.Context, kube client.Writer) map[string]string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := kube.Create(ctx, review); err != nil || review.Status.UserInfo.Username == "" {
		return nil
	}
	return map[string]string{v1alpha1.AnnotationRequestedBy: review.Status.UserInfo.Username}
}

// hosts are where the approved control planes are, the address that was observed first.
func (l *live) hosts(ctx context.Context) (hosts []string, err error) {
	var machines v1alpha1.TalosMachineList
	if err := l.kube.List(ctx, &machines, client.InNamespace(l.plan.Namespace)); err != nil {
		return nil, fmt.Errorf("list the control planes, whose API servers may have to be asked: %w", err)
	}
	for i := range machines.Items {
		if m := &machines.Items[i]; controlplane.Approved(m) && m.Spec.ClusterRef.Name == l.plan.Cluster {
			hosts = append(hosts, controlplane.Address(m))
		}
	}
	return hosts, nil
}

// follower is nil if nobody wants one. Whom it will ask is said now, while all answer.
func (l *live) follower(ctx context.Context) (*follower, error) {
	if !l.follow {
		return nil, nil
	}
	hosts, err := l.hosts(ctx)
	if err != nil {
		return nil, err
	}
	servers, why, err := ring(l.config, hosts)
	if err != nil {
		return nil, err
	}
	f := &follower{servers: servers, recover: l.plan.RecoverCommand, progress: newOperationProgress(l.person.err, l.now), now: l.now, wait: sleep}
	if why != "" {
		f.say("API server %s is asked alone: %s", servers[0].url, why)
		return f, nil
	}
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.url)
	}
	f.say("API servers that are asked, one after the other while one does not answer: %s", strings.Join(urls, ", "))
	return f, nil
}
