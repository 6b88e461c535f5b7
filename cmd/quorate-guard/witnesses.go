package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/guard/rejoin"
)

// readCommand is how a process of this program calls itself to read a file that
// may kill it.
const readCommand = "read-tombstones"

func newReadCommand() *cobra.Command {
	return &cobra.Command{
		Use: readCommand, Short: "Answer requests of another quorate-guard", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := rejoin.ServeChild(cmd.InOrStdin(), cmd.OutOrStdout()); code != 0 {
				return fmt.Errorf("the reader ended with code %d", code)
			}
			return nil
		},
	}
}

// witnesses reads the tombstones in a child and the log here.
type witnesses struct{ child rejoin.Child }

func newWitnesses() witnesses {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return witnesses{rejoin.Child{Program: program, Args: []string{readCommand}}}
}

func (w witnesses) Tombstone(ctx context.Context, dataDir string, id rejoin.ID) rejoin.Witness {
	return w.child.Tombstone(ctx, dataDir, id)
}

func (w witnesses) Applied(ctx context.Context, dataDir string) rejoin.Witness {
	return w.child.Applied(ctx, dataDir)
}

func (w witnesses) Log(ctx context.Context, dataDir string, id rejoin.ID) rejoin.Witness {
	return rejoin.ReadLog(ctx, dataDir, id)
}
