package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/cel"
)

// compare lists how a layer's verdict differs from what is expected of it.
func compare(want LayerExpect, got cel.Verdict) []string {
	if want.Verdict == "" {
		return []string{"the case says nothing of this layer"}
	}
	if want.Verdict == cel.Allow || want.Verdict == Skip || got.Outcome == Skip || len(got.Findings) == 0 {
		if want.Verdict == got.Outcome {
			return nil
		}
		return []string{fmt.Sprintf("expected %s, got %s", describe(want), describeVerdict(got))}
	}
	at := slices.IndexFunc(got.Findings, func(f cel.Finding) bool { return f.Rule == want.Rule })
	if at < 0 {
		return []string{fmt.Sprintf("expected %s, got %s", describe(want), describeVerdict(got))}
	}
	return append(compareFinding(want, got.Findings[at]), compareOthers(want, got)...)
}

func compareFinding(want LayerExpect, got cel.Finding) []string {
	switch {
	case got.Outcome != want.Verdict:
		return []string{fmt.Sprintf("expected %s, got %s", describe(want), describeFinding(got))}
	case got.Message != want.Message:
		return []string{fmt.Sprintf("the message differs\nwant: %s\ngot:  %s", want.Message, got.Message)}
	}
	return nil
}

func compareOthers(want LayerExpect, got cel.Verdict) []string {
	var failures []string
	missing := slices.Clone(want.Also)
	for _, f := range got.Findings {
		switch at := slices.Index(missing, f.Rule); {
		case f.Rule == want.Rule:
		case at >= 0:
			missing = slices.Delete(missing, at, at+1)
		default:
			failures = append(failures, "not expected: "+describeFinding(f))
		}
	}
	for _, rule := range missing {
		failures = append(failures, fmt.Sprintf("expected an objection by %s too", rule))
	}
	return failures
}

func describe(want LayerExpect) string {
	if want.Verdict == cel.Allow || want.Verdict == Skip {
		return string(want.Verdict)
	}
	return fmt.Sprintf("%s by %s", want.Verdict, want.Rule)
}

func describeVerdict(got cel.Verdict) string {
	if len(got.Findings) == 0 {
		return string(got.Outcome)
	}
	var parts []string
	for _, f := range got.Findings {
		parts = append(parts, describeFinding(f))
	}
	return strings.Join(parts, "; ")
}

func describeFinding(f cel.Finding) string {
	return fmt.Sprintf("%s by %s: %s", f.Outcome, f.Rule, f.Message)
}
