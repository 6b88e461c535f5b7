// Package running runs the jobs of restores in this process, one for each cluster, each
// in a folder of its own. A job outlives everything here that needs Kubernetes; a
// process that was killed goes on with what it finds in the folders before it asks
// anybody.
package running
