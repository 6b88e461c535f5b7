// Package etcd is the thin way to an etcd cluster: its members as they are now,
// and the three calls that change them. It decides nothing; package guard does.
package etcd
