// Package s3 runs an object store for tests: a process of its own that keeps buckets in
// a folder, and a proxy in front of it that is away, slow, loses answers or ignores
// conditions on demand.
package s3
