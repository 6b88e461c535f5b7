// Package backup follows TalosEtcdBackups: it takes snapshots of a cluster's etcd on a
// schedule and on demand, encrypts them on their way into the object store, reads each
// back and opens it, lists those that are whole, and removes the oldest.
//
// The store is what is so. A snapshot is two objects: its ciphertext, and what is
// written beside it once it is proved. What has the first alone is not whole; it is never
// listed, and removed after a day. So a process may die anywhere: the next one finds
// whole snapshots, and what it takes for leftovers.
package backup
