// Package restore is the live restore of a cluster's etcd, as far as it needs no
// Kubernetes: the marker that outlives the cluster it rewinds, the folder that outlives
// the container, and the job that wipes, recovers and completes etcd. What the job does
// next is decided in package restoring.
//
// # Where the state is
//
// The marker is in the store, written by compare-and-swap, and in the folder, which is
// written first, so that the folder is never older. What an act depends on is saved
// before the act, in at least one of the two: a store that is away delays nothing while
// the folder can be written, and a folder that cannot be written is done without while
// the store answers. A process that has neither waits.
//
// A process that goes on from a marker in the store that is too old, as its predecessor
// could write its folder alone, harms nothing: boot IDs and etcd itself tell what has
// happened. Such a process may wipe a node once more than needed, and never one of the
// recovered etcd.
//
// # Whose the restore is
//
// The owner in the marker may act until it expires, and stops a margin earlier by its
// own clock, so that clocks may differ by the margin. It renews after a third. Before
// each act that destroys, the owner is read again; a store that does not answer is
// passed over until the margin is reached. Who takes it over, after its end or because
// a person ordered it, raises the fence; the process of before finds that out before its
// next act, and a write of its own fails. A store that ignores conditions has no such
// write: there, reading before each act is all there is.
//
// The identity is the folder's, so that a container that is started again is the same
// owner. A process that wipes the node it runs on gives its hold up first: the next one
// need not wait.
//
// While all are being wiped, the node that is spared is the one that the process runs
// on now; later, nothing depends on where it runs.
//
// # How it ends
//
// Done, when etcd is recovered, every control plane is a voter, kubelets were restarted
// (or AgentWarning says which was not) and alarms were read. Paused, by a limit, by an
// answer to an upload or a bootstrap that another try does not change (one without a
// code of its own counts when it comes three times in a row), by a snapshot that is not
// the pinned one, or by a panic; a Failure in the marker ends every later run at once,
// until a person orders it on, from where it ended and with new limits. Lost, when it is
// another process's or the marker is gone.
//
// A wipe, a leave or a look that fails is repeated within the limits, whatever the error:
// half of the nodes may be wiped already, and a person may mend the cause meanwhile.
package restore
