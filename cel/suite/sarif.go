package suite

import (
	"net/url"
	"path/filepath"
)

// The parts of SARIF 2.1.0 that a report uses.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
	// ColumnKind says that columns count characters, not UTF-16 units.
	ColumnKind string `json:"columnKind"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string    `json:"id"`
	ShortDescription sarifText `json:"shortDescription"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
}

func newSARIF(r *Report, version string) sarifLog {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "quorate", Version: version}
	index := map[string]int{}
	for i, k := range findingKinds {
		index[k.kind] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: k.kind, ShortDescription: sarifText{k.meaning}})
	}
	for _, f := range r.findings() {
		run.Results = append(run.Results, sarifResult{
			RuleID: f.kind, RuleIndex: index[f.kind], Level: "error",
			Message: sarifText{sarifMessage(f)}, Locations: sarifLocations(f.at),
		})
	}
	return sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	}
}

func sarifMessage(f finding) string {
	if f.rule == "" {
		return f.text
	}
	return f.rule + ": " + f.text
}

func sarifLocations(at Position) []sarifLocation {
	if at.File == "" {
		return nil
	}
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{URI: fileURI(at.File)}}}
	if at.Line > 0 {
		l.Physical.Region = &sarifRegion{StartLine: at.Line, StartColumn: max(at.Column, 1)}
	}
	return []sarifLocation{l}
}

// fileURI gives a relative or absolute path as a URI reference.
func fileURI(file string) string {
	return (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()
}
