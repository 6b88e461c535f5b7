// Package drain takes the pods off a Node the way kubectl drain does, one look at a
// time: each Step asks for what can be asked for now, says what is still there, and
// returns. Waiting is the caller's.
package drain
