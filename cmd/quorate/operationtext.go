package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
)

func phaseOf(op *v1alpha1.TalosOperation) string {
	return string(cmp.Or(op.Status.Phase, v1alpha1.PhasePending))
}

func stepOf(op *v1alpha1.TalosOperation) string {
	if op.Status.EtcdRestore == nil {
		return ""
	}
	return string(op.Status.EtcdRestore.Step)
}

// messageOf is what an operation waits for, or why it does not go on.
func messageOf(op *v1alpha1.TalosOperation) string {
	switch {
	case epoch.Released(op):
		return "It was released, and its controller has not followed yet."
	case op.Status.Phase == v1alpha1.PhaseHeld:
		return "Once it is released: " + afterwards(op)
	case op.Status.Phase == v1alpha1.PhasePaused:
		return op.Status.FailureReason
	case op.Status.EtcdRestore != nil:
		return op.Status.EtcdRestore.Message
	}
	return ""
}

// afterwards says what runs once an object is released.
func afterwards(o client.Object) string {
	switch o := o.(type) {
	case *v1alpha1.TalosMachine:
		return machineAfterwards(o)
	case *v1alpha1.Etcd:
		return etcdAfterwards(o)
	case *v1alpha1.TalosOperation:
		return operationAfterwards(o)
	}
	return ""
}

func operationAfterwards(op *v1alpha1.TalosOperation) string {
	r := op.Spec.EtcdRestore
	if op.Status.Phase == v1alpha1.PhasePaused && stepOf(op) != "" {
		return fmt.Sprintf("the operation goes on at %s.", stepOf(op))
	}
	if r == nil {
		return fmt.Sprintf("the operation %s runs on TalosCluster %s.", op.Spec.Kind, op.Spec.ClusterRef.Name)
	}
	return fmt.Sprintf("the etcd of TalosCluster %s is restored from %s of TalosEtcdBackup %s; everything written since that snapshot is lost, and the Kubernetes API is away meanwhile.",
		op.Spec.ClusterRef.Name, r.Snapshot, r.BackupRef.Name)
}

func machineAfterwards(m *v1alpha1.TalosMachine) string {
	if m.DeletionTimestamp.IsZero() {
		return "nothing: it is not being deleted."
	}
	text := "its deletion goes on: Node " + cmp.Or(m.Status.NodeName, m.Spec.Hostname, m.Name) + " is drained"
	if m.Spec.Role == v1alpha1.MachineControlPlane {
		text += ", its etcd member"
		if e := m.Status.EtcdMember; e != nil {
			text += " " + string(e.ID)
		}
		text += " is removed from TalosCluster " + m.Spec.ClusterRef.Name
	}
	return text + ", and the TalosMachine is gone."
}

// etcdAfterwards compares what spec asks for with what was last seen.
func etcdAfterwards(e *v1alpha1.Etcd) string {
	if !e.DeletionTimestamp.IsZero() {
		return "its deletion goes on: its members leave a cluster that others share, and its pods are gone; its volumes stay."
	}
	asked, own := int(ptr.Deref(e.Spec.Replicas, 0)), ownMembers(e)
	switch {
	case asked == 0:
		return "its pods are gone, since spec.replicas is 0; its volumes stay."
	case len(own) > asked:
		return fmt.Sprintf("members beyond spec.replicas %d are removed with their volumes (%s).", asked, strings.Join(own[asked:], ", "))
	}
	return fmt.Sprintf("its controller makes it what spec asks for (%d members), and may remove, replace or restart members for that.", asked)
}

// ownMembers are the names of the Etcd's own members that were last listed, in order.
func ownMembers(e *v1alpha1.Etcd) (out []string) {
	for _, m := range e.Status.Members {
		if strings.HasPrefix(m.Name, e.Name+"-") {
			out = append(out, m.Name)
		}
	}
	slices.Sort(out)
	return out
}
