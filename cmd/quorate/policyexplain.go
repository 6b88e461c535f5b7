package main
import "github.com/spf13/cobra"
func newPolicyExplainCommand() *cobra.Command { return &cobra.Command{Use: "explain RULE"} }
