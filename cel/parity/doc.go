// Package parity shows that a rule means the same in every layer. It generates
// pairs of old and new objects from the CRDs, as the API server has them when it
// judges rules, and compares what the layers say of each. It is test support:
// in process over the layers of package cel, elsewhere over real API servers.
package parity
