package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/internal/agent"
)

const checkHelp = `Print the verdict that prepare would come to now, and what it rests on. It changes
nothing. The exit code is that of the verdict; 0 for a wait.`

func newCheckCommand() *cobra.Command {
	var c common
	var output string
	cmd := &cobra.Command{
		Use: "check", Short: "Print the verdict, and change nothing", Long: checkHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return usage(fmt.Errorf("--output %q is neither text nor json", output))
			}
			a, err := c.agent(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			j, err := a.Check(cmd.Context())
			if err != nil {
				return err
			}
			if err := printVerdict(cmd.OutOrStdout(), output, j); err != nil {
				return err
			}
			return j.Refusal()
		},
	}
	c.register(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// report is what -o json prints.
type report struct {
	Action    rejoin.Action `json:"action"`
	By        rejoin.By     `json:"by"`
	Error     string        `json:"error,omitempty"`
	Reason    string        `json:"reason"`
	ExitCode  int           `json:"exitCode"`
	MemberID  rejoin.ID     `json:"memberID,omitzero"`
	ClusterID rejoin.ID     `json:"clusterID,omitzero"`
	Disk      string        `json:"disk"`
	Answered  bool          `json:"clusterAnswered"`
	Ledger    string        `json:"ledger"`
	Tombstone string        `json:"tombstone"`
	Log       string        `json:"log"`
}

func reportOf(j agent.Judgement) report {
	r := report{
		Action: j.Action, By: j.By, Reason: j.Reason, MemberID: j.Facts.Disk.MemberID, ClusterID: j.Facts.Disk.ClusterID,
		Disk: string(j.Facts.Disk.State), Answered: j.Facts.Live.Answered,
		Ledger: j.Facts.LedgerSays().String(), Tombstone: j.Facts.Tombstone.String(), Log: j.Facts.Logged.String(),
	}
	if err := j.Refusal(); err != nil {
		r.Error, r.ExitCode = agent.Name(err), agent.Code(err)
	}
	return r
}

func printVerdict(w io.Writer, output string, j agent.Judgement) error {
	r := reportOf(j)
	if output == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	disk := r.Disk
	if j.Facts.Disk.State == rejoin.HasWAL {
		disk += fmt.Sprintf(", member %s of cluster %s", r.MemberID, r.ClusterID)
	}
	_, err := fmt.Fprintf(w, "%s (by %s)\n%s\ndisk: %s\nremoved, by the ledger: %s; by the tombstone: %s; by the log: %s\n",
		r.Action, r.By, r.Reason, disk, r.Ledger, r.Tombstone, r.Log)
	return err
}
