package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/worker"
)

// newSnapshotWorkerCommand is the role of a child that opens a snapshot, for the manager
// and the command line alike. It is no command for people.
func newSnapshotWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    snapshot.Role,
		Short:  "Open a snapshot on behalf of another quorate process",
		Hidden: true,
		Args:   usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Standard input and output themselves: they are pipes of the parent's.
			if code := worker.Serve(os.Stdin, os.Stdout); code != exitOK {
				return &exitError{code, fmt.Errorf("answer the process that asked: exit code %d", code)}
			}
			return nil
		},
	}
}
