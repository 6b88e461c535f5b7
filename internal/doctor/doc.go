// Package doctor examines an installation: is the webhook fail-closed and
// answering, are its certificates good for a while, are the live CRDs and
// policies those of this version, and who could pass for the controller.
//
// It changes nothing. What it may not read is reported as unknown, with the
// permission that is missing. Judging is pure; reading goes through client-go's
// interfaces with a deadline for each call.
package doctor
