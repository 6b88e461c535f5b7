package main

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// refusedLimit is for an API server that answers and lets the caller read nothing: one that
// has just started knows no rules yet.
const refusedLimit = 5 * time.Minute

// refusal says what an API server means that lets the caller read nothing, with the way
// out; empty if that is not what it answers. The rewind takes tokens and roles with it that
// were made after the snapshot.
func refusal(err error, operation string) string {
	again := "then follow it again: quorate operation watch " + operation
	switch {
	case apierrors.IsUnauthorized(err):
		return "it does not take the credentials (401): a token that was made after the snapshot is not known any more. Log in anew, or use a client certificate, " + again
	case apierrors.IsForbidden(err):
		return "it lets you not read the operation (403): a role that was given after the snapshot is gone. Have it given again, " + again
	}
	return ""
}

func refusedError(url, operation string, err error) error {
	return fmt.Errorf("%s answers, and for %s %s (%w)", url, refusedLimit, refusal(err, operation), err)
}
