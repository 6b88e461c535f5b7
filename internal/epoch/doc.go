// Package epoch keeps apart what was wanted before a restore and what is wanted after
// it: a rewind of etcd brings back deletions and removals that were on their way when
// the snapshot was taken, and they would run a second time.
//
// While a restore is on its way the [Gate] is closed, and no destructive step of any
// reconciler is taken. What the restore brought back unfinished is held after that, by
// an annotation, until a person releases it.
//
// A term of the controllers begins with a closed gate, which opens once the stores of all
// backups have said that they have no marker of a restore. A rewind of the cluster that
// the controllers run in ends the term, since the API is away for longer than their lease
// lives. One that does not end it shows in the API server's revision ([Timeline]), and
// closes the gate again until the stores were asked anew.
package epoch
