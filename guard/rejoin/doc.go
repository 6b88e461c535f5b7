// Package rejoin decides how an etcd member may start: a member that was removed
// must never come back by itself, and a member that belongs must never be held up.
//
// Judge is a pure function of witnesses: the live member list, the ledger of
// removals, the tombstone and the removal in the member's own files. Each answers
// yes, no, or that it cannot be read, and the last is never taken for no. The
// readers of a disk are beside it, one file each.
package rejoin
