// Package recovered tests what a live restore cannot do by itself, or does from elsewhere,
// in worlds of package restored: the only control plane, which quorate restore
// --recover-cluster recovers; a restore whose controller is lost half-way, which the same
// command goes on with; a controller that runs on none of the machines; and a snapshot
// that was taken in the middle of things, which come back held.
package recovered
