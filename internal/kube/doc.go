// Package kube holds the thin adapters to the Kubernetes API: what the gate
// asks of it, uncached. They have no opinion and keep nothing.
package kube
