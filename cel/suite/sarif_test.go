package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestSARIF(t *testing.T) {
	r := everyKind()
	r.Cases, r.Coverage, r.Mutation = nil, nil, nil
	same(t, printed(t, r, "sarif"), `{
  "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "tool": {
        "driver": {
          "name": "quorate",
          "version": "v1.2.3",
          "rules": [
            {
              "id": "file",
              "shortDescription": {
                "text": "A file of the suite cannot be used."
              }
            },
            {
              "id": "unknown-rule",
              "shortDescription": {
                "text": "A case file names a rule that does not exist."
              }
            },
            {
              "id": "no-case",
              "shortDescription": {
                "text": "A rule has no case."
              }
            },
            {
              "id": "equivalent",
              "shortDescription": {
                "text": "An entry of policy.yaml's equivalents is wrong or out of date."
              }
            },
            {
              "id": "case",
              "shortDescription": {
                "text": "A case got another verdict than it expects, or its rule never fired."
              }
            },
            {
              "id": "coverage",
              "shortDescription": {
                "text": "A condition of a rule was never true or never false."
              }
            },
            {
              "id": "mutant",
              "shortDescription": {
                "text": "A changed rule passed every case."
              }
            }
          ]
        }
      },
      "results": [
        {
          "ruleId": "no-case",
          "ruleIndex": 2,
          "level": "error",
          "message": {
            "text": "lonely: rule lonely has no case; add p/lonely_test.yaml"
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "p/lonely.yaml"
                },
                "region": {
                  "startLine": 1,
                  "startColumn": 1
                }
              }
            }
          ]
        },
        {
          "ruleId": "file",
          "ruleIndex": 0,
          "level": "error",
          "message": {
            "text": "two\nlines"
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "p/CRD,%20old:%20100%25.yaml"
                }
              }
            }
          ]
        }
      ],
      "columnKind": "unicodeCodePoints"
    }
  ]
}
`)
}

func TestSARIFKnowsEveryKind(t *testing.T) {
	log := newSARIF(everyKind(), "")
	for _, result := range log.Runs[0].Results {
		if got := log.Runs[0].Tool.Driver.Rules[result.RuleIndex].ID; got != result.RuleID {
			t.Errorf("index %d is %s, not %s", result.RuleIndex, got, result.RuleID)
		}
	}
	if n := len(log.Runs[0].Results); n != 5 {
		t.Errorf("got %d results", n)
	}
}

// JSON and YAML carry the report itself.
func TestData(t *testing.T) {
	want := everyKind()
	var fromJSON, fromYAML Report
	if err := json.Unmarshal([]byte(printed(t, want, "json")), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(printed(t, want, "yaml")), &fromYAML); err != nil {
		t.Fatal(err)
	}
	same(t, printed(t, &fromJSON, "table"), printed(t, want, "table"))
	same(t, printed(t, &fromYAML, "table"), printed(t, want, "table"))
}

func TestUnknownFormat(t *testing.T) {
	err := everyKind().Write(&bytes.Buffer{}, "tap", Style{})
	if !errors.Is(err, ErrFormat) || err.Error() != `unknown output format: "tap"; want one of [table json yaml junit sarif github]` {
		t.Errorf("got %v", err)
	}
}

// The order of a report does not depend on scheduling.
func TestReportsAreReproducible(t *testing.T) {
	first := printed(t, runSample(t, nil, Options{Coverage: true, Mutate: true}), "json")
	for range 3 {
		same(t, printed(t, runSample(t, nil, Options{Coverage: true, Mutate: true}), "json"), first)
	}
}
