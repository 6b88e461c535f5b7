// Package etcdcluster runs etcd members as real processes, of a release that the
// test chooses, on loopback addresses of their own. Members are started, halted,
// killed and started again one by one; the membership is changed through clientv3
// by members that stay. No process outlives the test.
package etcdcluster
