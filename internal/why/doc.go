// Package why tells what each layer of an API server says of a change, without
// making it.
//
// The change is sent as a dry run, so the first answer is the server's own. An
// API server stops at the first layer that refuses; what the layers behind it
// would have said is computed here, by the rules of this version over the live
// object, and is marked as such.
//
// Reading the server's answer (Classify), working out the changed object (Plan)
// and putting both together (Assemble) are pure.
package why
