package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/suite"
	"github.com/quorate/quorate/manifests"
)

type explainOptions struct {
	rules, output      string
	caseFile, caseName string
	before, after      string
	subresource        string
	user               string
	groups             []string
}

const explainHelp = `Explain a rule: what it refuses, its expression and texts, the layers that enforce
it and how they differ.

With a request it also tells every layer's verdict and which parts of the
expression decided: lines marked with * . The request is a case of a case file
(-f FILE --case NAME; RULE may be left out) or made of objects (--old FILE
--new FILE; one alone is a deletion or a creation).`

func newPolicyExplainCommand() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Explain a rule, and how it judges a request",
		Long:  explainHelp,
		Example: `  quorate policy explain scale-out-blocked
  quorate policy explain -f cel/rules/scale-out-blocked_test.yaml --case "refused while scaling in"
  quorate policy explain no-shrink --rules policies --old before.yaml --new after.yaml`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPolicyExplain(cmd.Context(), cmd.OutOrStdout(), args, o)
		},
		ValidArgsFunction: completeRules(&o.rules),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.caseFile, "filename", "f", "", "case file that holds the request")
	flags.StringVar(&o.caseName, "case", "", "name of the case in the case file")
	flags.StringVar(&o.before, "old", "", "file with the object before")
	flags.StringVar(&o.after, "new", "", "file with the object after")
	flags.StringVar(&o.subresource, "subresource", "", "subresource that is changed: status or scale")
	flags.StringVar(&o.user, "user", suite.DefaultUser.Username, "who asks")
	flags.StringSliceVar(&o.groups, "group", suite.DefaultUser.Groups, "groups of who asks")
	addRulesFlag(cmd, &o.rules)
	addOutputFlag(cmd, &o.output, listFormats)
	return cmd
}

// explanation is all that is told of a rule.
type explanation struct {
	Rule   cel.Rule     `json:"rule"`
	Layers []layerNotes `json:"layers"`
	*suite.Explained
}

func runPolicyExplain(ctx context.Context, w io.Writer, args []string, o explainOptions) error {
	if err := o.check(args); err != nil {
		return err
	}
	request, id, err := o.request(args)
	if err != nil {
		return err
	}
	catalogue, err := loadRules(o.rules)
	if err != nil {
		return err
	}
	rule, ok := catalogue.Rule(id)
	if !ok {
		return usageError(fmt.Errorf("no such rule: %q; quorate policy rules lists them", id))
	}
	told := explanation{Rule: *rule, Layers: notesOf(rule)}
	if request != nil {
		if told.Explained, err = explainRequest(ctx, o.rules, id, request); err != nil {
			return err
		}
	}
	if o.output != "table" {
		return printData(w, told, o.output)
	}
	return printExplanation(w, catalogue.Group, told)
}

func (o explainOptions) check(args []string) error {
	switch {
	case len(args) == 0 && o.caseFile == "":
		return usageError(errors.New("name a rule, or a case with -f and --case"))
	case (o.caseFile == "") != (o.caseName == ""):
		return usageError(errors.New("-f and --case go together"))
	case o.caseFile != "" && (o.before != "" || o.after != ""):
		return usageError(errors.New("a case has objects of its own; leave --old and --new out"))
	}
	return checkOutput(o.output, listFormats)
}

// request gives the request, if one is asked for, and the rule's ID.
func (o explainOptions) request(args []string) (request *suite.Case, id string, err error) {
	if len(args) > 0 {
		id = args[0]
	}
	switch {
	case o.caseFile != "":
		file, err := suite.ReadFile(suite.HostFS{}, o.caseFile)
		if err != nil {
			return nil, "", err
		}
		if id == "" {
			id = file.Rule
		}
		request, err = file.Case(o.caseName)
		return request, id, err
	case o.before != "" || o.after != "":
		request, err = o.objects()
	}
	return request, id, err
}

func (o explainOptions) objects() (*suite.Case, error) {
	before, err := readObject(o.before)
	if err != nil {
		return nil, err
	}
	after, err := readObject(o.after)
	if err != nil {
		return nil, err
	}
	named := o.after
	if named == "" {
		named = o.before
	}
	c := suite.ObjectsCase(named, before, after)
	c.Subresource = o.subresource
	c.User.Username, c.User.Groups = o.user, o.groups
	return c, nil
}

// readObject reads one object from a YAML or JSON file; no name gives none.
func readObject(name string) (map[string]any, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read object: %w", err)
	}
	var object map[string]any
	if err := cel.DecodeStrict(name, data, &object); err != nil {
		return nil, err
	}
	return object, nil
}

// explainRequest judges by the folder's CRDs, or by those that this binary
// carries along with its rules.
func explainRequest(ctx context.Context, dir, id string, c *suite.Case) (*suite.Explained, error) {
	fsys, folder := ruleSource(dir)
	if dir != embeddedRules {
		loaded, err := suite.LoadFolder(fsys, folder)
		if err != nil {
			return nil, err
		}
		return loaded.Explain(ctx, id, c)
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return nil, err
	}
	loaded, err := suite.LoadFolderWith(fsys, folder, crds)
	if err != nil {
		return nil, err
	}
	return loaded.Explain(ctx, id, c)
}

func completeRules(dir *string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		catalogue, err := loadRules(*dir)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []cobra.Completion
		for _, r := range catalogue.Rules {
			ids = append(ids, cobra.CompletionWithDesc(r.ID, r.Doc))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
