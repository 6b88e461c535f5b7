// Package snapshot is what a backup of etcd is made of: the key that it is encrypted
// with, the check of the sum that etcd puts at its end, the names of objects, and what
// is written beside each one.
//
// A snapshot in plain is etcd's bolt database and then 32 bytes: the SHA-256 of the
// database. That sum is all that tells a whole one from one that was cut, as the
// machine API of Talos ends a stream that broke like one that is complete. So every
// way through this package checks it: plaintext passes, and the end of a damaged one is
// an error and not io.EOF. Memory does not grow with the size.
//
// A database whose sum is right can still be damaged, and bolt crashes over it: with a
// panic in a goroutine that nobody can recover, or by SIGBUS. So a [Worker] has it
// opened by a child of the same program: see package worker, which is the child's side.
package snapshot
