// Package snapshots tests internal/snapshot by the program itself and against real etcd
// of each release: what was resealed is restored with its hash checked, serves, and
// tells who watches from before that it has to list again.
package snapshots
