// Package etcd follows an Etcd: it runs its members as a StatefulSet, and changes the
// membership one member at a time. A reconcile is a list of named steps, a file each.
// What may be done is decided by package guard, from what was read immediately before;
// nothing irreversible is done on the word of a cache.
package etcd
