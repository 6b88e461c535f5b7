package suite

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Error   *junitFailure `xml:"error,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit prints one suite a rule, and further ones for problems, coverage
// and mutation, whose cases are the rules.
func writeJUnit(w io.Writer, r *Report) error {
	all := junitSuites{Name: "quorate policy test"}
	all.add(problemSuite(r.Problems))
	for _, s := range caseSuites(r.Cases) {
		all.add(s)
	}
	all.add(measureSuite(r, kindCoverage, ruleNames(r.Coverage, func(c RuleCoverage) string { return c.Rule })))
	all.add(measureSuite(r, kindMutant, ruleNames(r.Mutation, func(m RuleMutation) string { return m.Rule })))
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}

func (s *junitSuites) add(suite junitSuite) {
	if len(suite.Cases) == 0 {
		return
	}
	for _, c := range suite.Cases {
		suite.Tests++
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Error != nil {
			suite.Errors++
		}
	}
	s.Tests += suite.Tests
	s.Failures += suite.Failures
	s.Errors += suite.Errors
	s.Suites = append(s.Suites, suite)
}

func problemSuite(problems []Problem) junitSuite {
	s := junitSuite{Name: "suite"}
	for _, p := range problems {
		s.Cases = append(s.Cases, junitCase{
			Name: p.Kind, Class: cmp.Or(p.Rule, "suite"), File: p.At.File, Line: p.At.Line,
			Error: &junitFailure{Message: firstLine(p.Message), Text: located(p.At, p.Message)},
		})
	}
	return s
}

func caseSuites(cases []CaseResult) []junitSuite {
	var suites []junitSuite
	for _, c := range cases {
		if len(suites) == 0 || suites[len(suites)-1].Name != c.Rule {
			suites = append(suites, junitSuite{Name: c.Rule})
		}
		j := junitCase{Name: c.Name, Class: c.Rule, File: c.At.File, Line: c.At.Line}
		if !c.Passed {
			complaints := strings.Join(c.complaints(), "\n")
			j.Failure = &junitFailure{Message: firstLine(complaints), Text: complaints}
		}
		last := &suites[len(suites)-1]
		last.Cases = append(last.Cases, j)
	}
	return suites
}

// measureSuite has one case a rule, which fails on any finding of the kind.
func measureSuite(r *Report, kind string, rules []string) junitSuite {
	texts := map[string][]string{}
	for _, f := range r.findings() {
		if f.kind == kind {
			texts[f.rule] = append(texts[f.rule], located(f.at, f.text))
		}
	}
	s := junitSuite{Name: kind}
	for _, rule := range rules {
		c := junitCase{Name: kind, Class: rule}
		if found := texts[rule]; len(found) > 0 {
			c.Failure = &junitFailure{Message: firstLine(found[0]), Text: strings.Join(found, "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func ruleNames[T any](list []T, name func(T) string) []string {
	var out []string
	for _, item := range list {
		out = append(out, name(item))
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
