package conditions

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// MaxMessage is what a condition's message may have, MaxNote an event's; in bytes.
	MaxMessage = 4096
	MaxNote    = 1024
)

// Cut shortens a text to so many bytes, and leaves no part of a character.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// OneLine is an error's text in one line, without a full stop.
func OneLine(err error) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(err.Error()), " "), ".")
}

// Sentence is an error's text as a sentence of its own.
func Sentence(err error) string { return OneLine(err) + "." }

// Set keeps the time of the last transition unless status or reason change: how long
// something has been so for one reason is what people ask. c.LastTransitionTime is now.
func Set(all *[]metav1.Condition, c metav1.Condition) {
	if before := meta.FindStatusCondition(*all, c.Type); before != nil && before.Status == c.Status && before.Reason != c.Reason {
		before.LastTransitionTime = c.LastTransitionTime
	}
	c.Message = Cut(c.Message, MaxMessage)
	meta.SetStatusCondition(all, c)
}
