// Package chaos holds the test that walks one Etcd between sizes at random while
// members, manager and API server are killed, and judges what its clients saw.
package chaos
