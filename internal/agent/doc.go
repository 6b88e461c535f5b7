// Package agent is what runs beside an etcd member: it prepares the member's start
// by the verdict of guard/rejoin, promotes it once it has caught up, and says
// whether it serves. It never removes a member; what needs a removal is said in
// its exit reason. It knows no Kubernetes.
package agent
