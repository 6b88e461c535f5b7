package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/cel/suite"
)

// testOptions are the flags of policy test.
type testOptions struct {
	only             string
	coverage, mutate bool
	output           string
	verbose          bool
	minCoverage      float64
	minMutation      float64
}

const testHelp = `Judge the cases beside policy rules in every layer that enforces the rule.

A path is a folder of rules, a case file, a rule file, or DIR/... for every such
folder below DIR; without a path it is ./... . A folder holds RULE.yaml with its
cases in RULE_test.yaml, and policy.yaml, which names the API group, the CRDs and
the controller's user.

--coverage lists every condition that was never true or never false over all
cases. --mutate changes the rules, one change at a time, and lists the changes
that no case notices.

Exit codes: 0 all is well, 1 a case failed or the suite has an error, 2 usage,
3 coverage or mutation is below its threshold.`

func newPolicyTestCommand() *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test [PATH...]",
		Short: "Judge the cases of policy rules in every layer",
		Long:  testHelp,
		Example: `  quorate policy test ./cel/rules/...
  quorate policy test --coverage --mutate policies/no-shrink.yaml
  quorate policy test -o junit > report.xml`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return runPolicyTest(cmd, paths, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.only, "run", "", "judge only cases whose RULE/NAME matches this regular expression")
	flags.BoolVar(&o.coverage, "coverage", false, "list conditions that were never true or never false")
	flags.BoolVar(&o.mutate, "mutate", false, "change the rules and list the changes that no case notices")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "list what passed, too")
	flags.Float64Var(&o.minCoverage, "min-coverage", 100, "percentage of condition sides that must be reached")
	flags.Float64Var(&o.minMutation, "min-mutation", 100, "percentage of mutants that must be killed or proved equivalent")
	addOutputFlag(cmd, &o.output, suite.Formats)
	return cmd
}

func runPolicyTest(cmd *cobra.Command, paths []string, o testOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	targets, err := suite.Find(suite.HostFS{}, paths)
	if err != nil {
		return usageError(err)
	}
	p := newProgress(cmd.ErrOrStderr())
	options.Progress = p.show
	report, err := suite.Run(cmd.Context(), suite.HostFS{}, targets, options)
	p.clear()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	style := suite.Style{Color: colorful(out), Verbose: o.verbose, Version: cmd.Root().Version}
	if err := report.Write(out, o.output, style); err != nil {
		return err
	}
	return o.judge(report, targets)
}

func (o testOptions) options() (suite.Options, error) {
	options := suite.Options{Coverage: o.coverage, Mutate: o.mutate}
	if err := checkOutput(o.output, suite.Formats); err != nil {
		return options, err
	}
	if o.only == "" {
		return options, nil
	}
	if o.coverage || o.mutate {
		return options, usageError(errors.New("--run leaves cases out, so --coverage and --mutate would mislead; name a rule's file instead"))
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return options, usageError(fmt.Errorf("--run: %w", err))
	}
	options.Only = only
	return options, nil
}

// judge gives the run's result. The share of equivalents is that of whole
// folders: of a single rule it says nothing.
func (o testOptions) judge(report *suite.Report, targets []suite.Target) error {
	s := report.Summary
	partial := slices.ContainsFunc(targets, func(t suite.Target) bool { return t.Files != nil })
	switch {
	case report.Failed():
		return &exitError{exitFailed, fmt.Errorf("%d cases failed, %d errors in the suite", s.Failed, s.Problems)}
	case s.Coverage != nil && s.Coverage.Percent < o.minCoverage:
		return &exitError{exitThreshold, fmt.Errorf("coverage is %.1f%%, below %.1f%%", s.Coverage.Percent, o.minCoverage)}
	case s.Mutation != nil && s.Mutation.Percent < o.minMutation:
		return &exitError{exitThreshold, fmt.Errorf("mutation is %.1f%%, below %.1f%%", s.Mutation.Percent, o.minMutation)}
	case s.Mutation.TooManyEquivalents() && !partial:
		return &exitError{exitThreshold, fmt.Errorf("%d of %d mutants are declared equivalent, more than %.0f%%",
			s.Mutation.Equivalent, s.Mutation.Mutants, suite.MaxEquivalent)}
	}
	return nil
}

// progress tells a person what is being done: one line, drawn anew, on a
// terminal, and one line each elsewhere.
type progress struct {
	mutex  sync.Mutex
	out    io.Writer
	redraw bool
}

func newProgress(out io.Writer) *progress { return &progress{out: out, redraw: isTerminal(out)} }

func (p *progress) show(format string, args ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	text := fmt.Sprintf(format, args...)
	if p.redraw {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintln(p.out, text)
}

func (p *progress) clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.redraw {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
