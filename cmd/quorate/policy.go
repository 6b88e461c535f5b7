package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/cel/suite"
)

func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Test, list, explain and generate policy rules",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  showHelp,
	}
	cmd.AddCommand(newPolicyTestCommand(), newPolicyRulesCommand(), newPolicyExplainCommand(), newPolicyGenerateCommand())
	return cmd
}

// embeddedRules names the rules that this binary carries, where a folder is asked
// for.
const embeddedRules = ""

// ruleSource gives the file system and folder of rules: the folder named, or the
// embedded rules.
func ruleSource(dir string) (fs.FS, string) {
	if dir == embeddedRules {
		return rules.FS, "."
	}
	return suite.HostFS{}, dir
}

func loadRules(dir string) (*cel.Catalogue, error) {
	fsys, folder := ruleSource(dir)
	catalogue, err := cel.Load(fsys, folder)
	if err != nil {
		return nil, err
	}
	return catalogue, catalogue.Validate()
}

func addRulesFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "rules", embeddedRules, "folder of rules; default: the rules that this binary carries")
}

// addOutputFlag adds -o with the formats that the command knows, the first one
// being the default.
func addOutputFlag(cmd *cobra.Command, output *string, formats []string) {
	cmd.Flags().StringVarP(output, "output", "o", formats[0], "one of "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

func checkOutput(output string, formats []string) error {
	if slices.Contains(formats, output) {
		return nil
	}
	return usageError(fmt.Errorf("unknown output %q; want one of %s", output, strings.Join(formats, ", ")))
}

// isTerminal reports whether a person sees what is written.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// colorful follows https://no-color.org.
func colorful(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
