// Package machine follows a TalosMachine: it records the node's name and etcd member
// while they are well, and takes the machine out of its cluster when it is deleted:
// refusals, evacuation, drain, etcd member, event, finalizer. What may be done is
// decided by the admission rules and package guard, from what was read immediately
// before. It reaches no call that wipes a machine.
package machine
