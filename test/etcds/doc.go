// Package etcds tests the reconciler of Etcds as people meet it: real etcd members
// under quorate-guard in pods of a StatefulSet on a real control plane, changed with
// nothing but an edit of the Etcd. All tests share one world, each with Etcds and a
// namespace of its own.
package etcds
