// Package guard holds the decisions behind admission: may this member go, which
// are to go and in which order, and is the world still as the operation was
// recorded for. Each is a pure function of what was read immediately before; none
// knows a client or a clock.
package guard
