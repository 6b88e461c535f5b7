// Package restoring decides about a live restore of a cluster's etcd: what stands in
// its way before it begins, and what is done next once it has. All are pure functions:
// of what was found, or of the state in the restore's marker, one look at the nodes,
// and the time.
//
// What Next holds to:
//
//   - A node is told by its boot ID. Whoever has etcd data again after a reboot has
//     come back to the old cluster by itself and is wiped again at once; whoever has
//     not rebooted is asked again after a while; whoever is silent is rebooting.
//   - Data proves nothing. Recovered is an etcd that answers with a quorum, lists itself
//     and is at a revision that no other one has. Such a member is never wiped, whatever
//     the state says, so that a state that is too old harms nothing.
//   - Silence proves nothing either. A target whose etcd cannot be reached is wiped only if
//     its machine API says that it runs no healthy etcd.
//   - Nothing is bootstrapped while a control plane has data, but for an own one without
//     a quorum. So there are never two etcds that take writes.
//   - The own control plane leaves the old etcd before anything is wiped. If it cannot,
//     the restore fails with everything still as it was.
//   - A recovered etcd of which nothing is left is recovered again.
//   - Kubelets are restarted before the own node is wiped: what runs next needs them.
package restoring
