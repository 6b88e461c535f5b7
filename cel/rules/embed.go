// Package rules holds the product's rule files, each with its cases beside it.
// A rule's name is its file's name; nothing else about a rule stands elsewhere.
package rules

import "embed"

// FS holds the rule files, the cases and the suite's settings.
//
//go:embed *.yaml
var FS embed.FS
