package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/quorate/quorate/guard/rejoin"
)

// readerName is the program beside this one that reads a file which may kill it.
const readerName = "quorate-guard-reader"

// executable finds this program; tests put another in its place.
var executable = os.Executable

// witnesses reads the database in a child and the log here.
type witnesses struct {
	child rejoin.Child
	// lost is why the child's program cannot be looked for, if that is so.
	lost error
}

func newWitnesses() witnesses {
	self, err := executable()
	if err != nil {
		return witnesses{lost: fmt.Errorf("find the folder of %s: %w", readerName, err)}
	}
	return witnesses{child: rejoin.Child{Program: filepath.Join(filepath.Dir(self), readerName)}}
}

func (w witnesses) Tombstone(ctx context.Context, dataDir string, id rejoin.ID) rejoin.Witness {
	if w.lost != nil {
		return unreadable(w.lost)
	}
	return w.child.Tombstone(ctx, dataDir, id)
}

func (w witnesses) Applied(ctx context.Context, dataDir string) rejoin.Witness {
	if w.lost != nil {
		return unreadable(w.lost)
	}
	return w.child.Applied(ctx, dataDir)
}

func unreadable(err error) rejoin.Witness {
	return rejoin.Witness{Answer: rejoin.Unreadable, Why: err.Error()}
}

func (w witnesses) Log(ctx context.Context, dataDir string, id rejoin.ID) rejoin.Witness {
	return rejoin.ReadLog(ctx, dataDir, id)
}
