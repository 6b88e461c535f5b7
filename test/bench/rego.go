package main

// regoModule says in Rego what the three compared rules say.
const regoModule = `package gate

import rego.v1

busy(reasons) if {
	some c in input.oldObject.status.conditions
	c.type == "ScaleOperationInProgress"
	c.status == "True"
	c.reason in reasons
}

stalled if {
	some c in input.oldObject.status.conditions
	c.type == "Stalled"
	c.status == "True"
}

given_up if {
	stalled
	input.oldObject.status.scaleOperation.type == "ScalingOut"
	input.oldObject.status.scaleOperation.from == input.object.spec.replicas
}

given_up if {
	stalled
	input.oldObject.status.scaleOperation.type == "ScalingOut"
	input.oldObject.status.scaleOperation.from == 0
}

deny contains "scale-out-blocked" if {
	input.oldObject.spec.replicas > 0
	input.object.spec.replicas > input.oldObject.spec.replicas
	busy({"ScalingIn", "BootstrapMembersRemoval"})
}

deny contains "scale-in-blocked" if {
	input.object.spec.replicas > 0
	input.object.spec.replicas < input.oldObject.spec.replicas
	busy({"ScalingOut", "BootstrapMembersRemoval"})
	not given_up
}

deny contains "bootstrap-removal-blocked" if {
	busy({"ScalingIn", "ScalingOut"})
	kept := {m.name | some m in input.object.spec.etcd.bootstrapWithExistingCluster.members}
	some o in input.oldObject.spec.etcd.bootstrapWithExistingCluster.members
	not o.name in kept
}
`
