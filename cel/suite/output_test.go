package suite

import (
	"bytes"
	"encoding/xml"
	"testing"

	"github.com/quorate/quorate/cel"
)

// everyKind is a report with one of each thing that can be wrong.
func everyKind() *Report {
	at := func(file string, line, column int) Position { return Position{File: file, Line: line, Column: column} }
	r := &Report{
		Problems: []Problem{
			{Kind: KindNoCase, Rule: "lonely", At: at("p/lonely.yaml", 1, 1), Message: "rule lonely has no case; add p/lonely_test.yaml"},
			{Kind: KindFile, At: Position{File: "p/CRD, old: 100%.yaml"}, Message: "two\nlines"},
		},
		Cases: []CaseResult{
			{Rule: "a", Name: "passes", At: at("p/a_test.yaml", 3, 3), Passed: true, Layers: []LayerResult{{Layer: cel.LayerCRD, Verdict: cel.Allow}}},
			{
				Rule: "a", Name: "fails <twice>", At: at("p/a_test.yaml", 7, 3), Failures: []string{"the rule never fired"},
				Layers: []LayerResult{{Layer: cel.LayerCRD, Verdict: cel.Deny, Failures: []string{"the message differs\nwant: x\ngot:  y"}}},
			},
		},
		Coverage: []RuleCoverage{{Rule: "a", File: "p/a.yaml", Percent: 50, Conditions: []Condition{
			{Source: "self.x == 1", At: at("p/a.yaml", 4, 3), True: 2, False: 0},
		}}},
		Mutation: []RuleMutation{{Rule: "a", File: "p/a.yaml", Mutants: []Mutant{
			{ID: "compare self.x == 1 -> !=", State: Killed, KilledBy: "passes", At: at("p/a.yaml", 4, 3), Expression: "self.x != 1", Change: "self.x [== -> !=] 1"},
			{ID: "constant 1 -> 2", State: Survived, At: at("p/a.yaml", 4, 13), Expression: "self.x == 2", Change: "self.x == [1 -> 2]"},
			{ID: "constant 1 -> 0", State: Proved, Proof: "It is so.", At: at("p/a.yaml", 4, 13), Expression: "self.x == 0", Change: "self.x == [1 -> 0]"},
			{ID: "negate x", State: Invalid, At: at("p/a.yaml", 4, 3), Expression: "!(x)", Change: "[x -> !(x)]"},
		}}},
	}
	r.summarize()
	return r
}

func TestTable(t *testing.T) {
	same(t, printed(t, everyKind(), "table"), `ERROR  p/lonely.yaml:1:1: rule lonely has no case; add p/lonely_test.yaml
ERROR  p/CRD, old: 100%.yaml: two
lines
FAIL   a  1 of 2 cases failed
  FAIL  p/a_test.yaml:7:3: fails <twice>  (crd deny)
      the rule never fired
      crd: the message differs
        want: x
        got:  y
COVER  a  1 condition, 50.0% covered
  p/a.yaml:4:3: never false: self.x == 1
MUTANT a  1 of 4 mutants survived
  p/a.yaml:4:13: survived: constant 1 -> 2
      self.x == [1 -> 2]
  p/a.yaml:4:13: equivalent: constant 1 -> 0
      proof: It is so.
coverage: 50.0%, 1 of 2 sides of 1 condition
mutation: 66.7%, 1 of 3 mutants killed, 1 survived, 1 equivalent; 1 invalid
2 errors
1 passed, 1 failed
`)
}

func TestVerboseColoredTable(t *testing.T) {
	r := everyKind()
	r.Problems = nil
	r.Cases = r.Cases[:1]
	r.Coverage[0].Conditions[0].False = 1
	r.Mutation[0].Mutants = append(r.Mutation[0].Mutants[:1], r.Mutation[0].Mutants[3])
	r.Summary = Summary{}
	r.summarize()
	var out bytes.Buffer
	if err := r.Write(&out, "table", Style{Color: true, Verbose: true}); err != nil {
		t.Fatal(err)
	}
	same(t, out.String(), "\x1b[32mok\x1b[0m     a  1 case\n"+
		"  \x1b[32mok\x1b[0m  p/a_test.yaml:3:3: passes  (crd allow)\n"+
		"\x1b[32mCOVER\x1b[0m  a  1 condition, 50.0% covered\n"+
		"  p/a.yaml:4:3: true 2, false 1: self.x == 1\n"+
		"\x1b[32mMUTANT\x1b[0m a  0 of 2 mutants survived\n"+
		"  p/a.yaml:4:3: killed by \"passes\": compare self.x == 1 -> !=\n"+
		"  p/a.yaml:4:3: invalid: negate x\n"+
		"coverage: 100.0%, 2 of 2 sides of 1 condition\n"+
		"mutation: 100.0%, 1 of 1 mutant killed, 0 survived, 0 equivalent; 1 invalid\n"+
		"1 passed, 0 failed\n")
}

func TestGitHub(t *testing.T) {
	same(t, printed(t, everyKind(), "github"), `::error file=p/lonely.yaml,line=1,col=1,title=no-case lonely::rule lonely has no case; add p/lonely_test.yaml
::error file=p/CRD%2C old%3A 100%25.yaml,title=file::two%0Alines
::error file=p/a_test.yaml,line=7,col=3,title=case a::fails <twice>: the rule never fired%0Acrd: the message differs%0Awant: x%0Agot:  y
::error file=p/a.yaml,line=4,col=3,title=coverage a::never false: self.x == 1
::error file=p/a.yaml,line=4,col=13,title=mutant a::survived: constant 1 -> 2%0Aself.x == [1 -> 2]
1 passed, 1 failed
`)
}

func TestJUnit(t *testing.T) {
	got := printed(t, everyKind(), "junit")
	same(t, got, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="quorate policy test" tests="6" failures="3" errors="2">
  <testsuite name="suite" tests="2" failures="0" errors="2">
    <testcase name="no-case" classname="lonely" file="p/lonely.yaml" line="1">
      <error message="rule lonely has no case; add p/lonely_test.yaml">p/lonely.yaml:1:1: rule lonely has no case; add p/lonely_test.yaml</error>
    </testcase>
    <testcase name="file" classname="suite" file="p/CRD, old: 100%.yaml">
      <error message="two">p/CRD, old: 100%.yaml: two&#xA;lines</error>
    </testcase>
  </testsuite>
  <testsuite name="a" tests="2" failures="1" errors="0">
    <testcase name="passes" classname="a" file="p/a_test.yaml" line="3"></testcase>
    <testcase name="fails &lt;twice&gt;" classname="a" file="p/a_test.yaml" line="7">
      <failure message="the rule never fired">the rule never fired&#xA;crd: the message differs&#xA;want: x&#xA;got:  y</failure>
    </testcase>
  </testsuite>
  <testsuite name="coverage" tests="1" failures="1" errors="0">
    <testcase name="coverage" classname="a">
      <failure message="p/a.yaml:4:3: never false: self.x == 1">p/a.yaml:4:3: never false: self.x == 1</failure>
    </testcase>
  </testsuite>
  <testsuite name="mutant" tests="1" failures="1" errors="0">
    <testcase name="mutant" classname="a">
      <failure message="p/a.yaml:4:13: survived: constant 1 -&gt; 2">p/a.yaml:4:13: survived: constant 1 -&gt; 2&#xA;self.x == [1 -&gt; 2]</failure>
    </testcase>
  </testsuite>
</testsuites>
`)
	if err := xml.Unmarshal([]byte(got), &junitSuites{}); err != nil {
		t.Error(err)
	}
}
