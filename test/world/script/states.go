package script

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// began is when everything in the script happened.
var began = metav1.NewTime(time.Date(2030, time.January, 2, 15, 4, 5, 0, time.UTC))

// state is an Etcd's status under construction.
type state v1alpha1.EtcdStatus

// idle is the status of an Etcd of this size at rest.
func idle(size int32) state {
	return state{Replicas: size, ClusterID: "c1a0f3", HibernatedReplicas: &size}.
		with(v1alpha1.ConditionScaleOperationInProgress, metav1.ConditionFalse, v1alpha1.ReasonNoScaleOperation)
}

// busy is the status of an Etcd that is on its way from one size to another.
func busy(operation v1alpha1.ScaleOperationType, from, to int32) state {
	s := state{Replicas: from, ClusterID: "c1a0f3", HibernatedReplicas: &from}
	s.ScaleOperation = &v1alpha1.ScaleOperation{Type: operation, Generation: 1, From: from, To: to, StartedAt: began}
	return s.with(v1alpha1.ConditionScaleOperationInProgress, metav1.ConditionTrue, string(operation))
}

func (s state) with(condition string, value metav1.ConditionStatus, reason string) state {
	s.Conditions = append(s.Conditions[:len(s.Conditions):len(s.Conditions)],
		metav1.Condition{Type: condition, Status: value, Reason: reason, LastTransitionTime: began})
	return s
}

// joined adds source members that share the cluster.
func (s state) joined(names ...string) state {
	for _, name := range names {
		s.BootstrapWithExistingClusterMembers = append(s.BootstrapWithExistingClusterMembers, v1alpha1.BootstrapMember{
			Name: name, PeerURLs: []v1alpha1.URL{v1alpha1.URL("https://" + name + ".old.example.com:2380")},
		})
	}
	return s
}

// bootstrapped says whether every member has joined the source's cluster.
func (s state) bootstrapped(done bool) state {
	if done {
		return s.with(v1alpha1.ConditionBootstrappedWithExistingCluster, metav1.ConditionTrue, "AllMembersJoined")
	}
	return s.with(v1alpha1.ConditionBootstrappedWithExistingCluster, metav1.ConditionFalse, "Joining")
}

// records is the status as the controller writes it.
func (s state) records(object, what string) Records {
	return Records{Object: object, What: what, Status: v1alpha1.EtcdStatus(s)}
}

// voters is a TalosCluster's report of its etcd: cp-N has the member ID aN.
func voters(healthy map[int]bool, numbers ...int) v1alpha1.TalosClusterStatus {
	var status v1alpha1.TalosClusterStatus
	for _, n := range numbers {
		status.Members = append(status.Members, v1alpha1.EtcdMember{
			Name: fmt.Sprintf("cp-%d", n), ID: memberID(n), Role: v1alpha1.RoleVoter, Started: true, Healthy: healthy[n],
		})
	}
	return status
}

func memberID(n int) v1alpha1.HexID { return v1alpha1.HexID(fmt.Sprintf("a%d", n)) }

// hasMember is the status of the machine cp-N.
func hasMember(n int) Records {
	return Records{
		Object: fmt.Sprintf("talosmachine/cp-%d", n), What: "its etcd member " + string(memberID(n)),
		Status: v1alpha1.TalosMachineStatus{EtcdMember: &v1alpha1.MachineEtcdMember{ID: memberID(n)}},
	}
}
