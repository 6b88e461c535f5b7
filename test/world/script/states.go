package script

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// began is when everything in the script happened.
var began = metav1.NewTime(time.Date(2030, time.January, 2, 15, 4, 5, 0, time.UTC))

// State is an Etcd's status under construction.
type State v1alpha1.EtcdStatus

// Idle is the status of an Etcd of this size at rest.
func Idle(size int32) State {
	return State{Replicas: size, ClusterID: "c1a0f3", HibernatedReplicas: &size}.
		With(v1alpha1.ConditionScaleOperationInProgress, metav1.ConditionFalse, v1alpha1.ReasonNoScaleOperation)
}

// Busy is the status of an Etcd that is on its way from one size to another.
func Busy(operation v1alpha1.ScaleOperationType, from, to int32) State {
	s := State{Replicas: from, ClusterID: "c1a0f3"}
	if from > 0 {
		s.HibernatedReplicas = &from
	}
	s.ScaleOperation = &v1alpha1.ScaleOperation{Type: operation, Generation: 1, From: from, To: to, StartedAt: began}
	return s.With(v1alpha1.ConditionScaleOperationInProgress, metav1.ConditionTrue, string(operation))
}

// With adds a condition.
func (s State) With(condition string, value metav1.ConditionStatus, reason string) State {
	s.Conditions = append(s.Conditions[:len(s.Conditions):len(s.Conditions)],
		metav1.Condition{Type: condition, Status: value, Reason: reason, LastTransitionTime: began})
	return s
}

// Joined adds source members that share the cluster.
func (s State) Joined(names ...string) State {
	for _, name := range names {
		s.BootstrapWithExistingClusterMembers = append(s.BootstrapWithExistingClusterMembers, v1alpha1.BootstrapMember{
			Name: name, PeerURLs: []v1alpha1.URL{v1alpha1.URL("https://" + name + ".old.example.com:2380")},
		})
	}
	return s
}

// Bootstrapped says whether every member has joined the source's cluster.
func (s State) Bootstrapped(done bool) State {
	if done {
		return s.With(v1alpha1.ConditionBootstrappedWithExistingCluster, metav1.ConditionTrue, "AllMembersJoined")
	}
	return s.With(v1alpha1.ConditionBootstrappedWithExistingCluster, metav1.ConditionFalse, "Joining")
}

// records is the status as the controller writes it.
func (s State) records(object, what string) Records {
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
