package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/cel"
)

var listFormats = []string{"table", "json", "yaml"}

func newPolicyRulesCommand() *cobra.Command {
	var dir, output string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List the rules, where they are enforced and whom they bind",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(output, listFormats); err != nil {
				return err
			}
			catalogue, err := loadRules(dir)
			if err != nil {
				return err
			}
			return printRules(cmd.OutOrStdout(), catalogue, output)
		},
	}
	addRulesFlag(cmd, &dir)
	addOutputFlag(cmd, &output, listFormats)
	return cmd
}

// ruleList is the catalogue as data, defaults filled in.
type ruleList struct {
	Group string     `json:"group"`
	Rules []cel.Rule `json:"rules"`
}

func printRules(w io.Writer, c *cel.Catalogue, output string) error {
	if output != "table" {
		list := ruleList{Group: c.Group}
		for _, r := range c.Rules {
			filled := *r
			filled.Operations, filled.Subresources = r.RunsOn(), r.RunsFor()
			list.Rules = append(list.Rules, filled)
		}
		return printData(w, list, output)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tRESOURCE\tLAYERS\tBINDS\tON\tREFUSES")
	for _, r := range c.Rules {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Resource, joinAs(r.Layers, ","), r.Binds, judgedOn(r), r.Doc)
	}
	return t.Flush()
}

func printData(w io.Writer, value any, output string) error {
	if output == "yaml" {
		data, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode the output: %w", err)
		}
		_, err = w.Write(data)
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	return nil
}

// judgedOn names operations, and subresources where they differ from the object
// itself: "CREATE,UPDATE of object,status,scale".
func judgedOn(r *cel.Rule) string {
	on := joinAs(r.RunsOn(), ",")
	subresources := r.RunsFor()
	if len(subresources) == 1 && subresources[0] == cel.Main {
		return on
	}
	names := make([]string, len(subresources))
	for i, s := range subresources {
		if names[i] = s; s == cel.Main {
			names[i] = "object"
		}
	}
	return on + " of " + strings.Join(names, ",")
}

func joinAs[T ~string](list []T, separator string) string {
	parts := make([]string, len(list))
	for i, item := range list {
		parts[i] = string(item)
	}
	return strings.Join(parts, separator)
}
