// Package store keeps a cluster's snapshots and the marker of its restore in an object
// store: a bucket that speaks S3, or a folder.
//
// A store is flat: a name has no slash, and the folder within the bucket is the
// store's. Nothing is visible before it is whole. Small objects can be written on
// condition, so that of many writers one wins; Probe tells a store that takes the
// condition and ignores it.
package store
