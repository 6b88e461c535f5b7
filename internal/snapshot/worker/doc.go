// Package worker is the child's side of a snapshot.Worker: the only code that opens a
// database that others wrote. It runs in a process of its own, which a damaged one may
// crash, and which has limits of memory, time and file size. It checks the sum at the
// end before it opens anything.
//
// A large database is mapped and not read into memory: pages of the file are no
// anonymous memory. What is kept of it is bounded, whatever the number of keys.
package worker
