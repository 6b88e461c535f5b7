package talos

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
)

// List streams the path itself and what is in it: with Recurse at any depth, or down to
// RecursionDepth. A path that is missing is an Unknown error.
func (a *api) List(in *machine.ListRequest, stream grpc.ServerStreamingServer[machine.FileInfo]) error {
	root := path.Clean("/" + in.Root)
	host, ok := a.boot.node.disk.hostPath(root)
	if missing, _ := a.boot.ready.lacks(partVar); missing != "" && !strings.HasPrefix(root, constants.StateMountPoint) {
		ok = false // nothing is mounted there yet, whatever is on the disk
	}
	if ok {
		_, err := os.Lstat(host)
		ok = !errors.Is(err, fs.ErrNotExist)
	}
	if !ok {
		return fmt.Errorf("lstat %s: no such file or directory", root)
	}
	return filepath.WalkDir(host, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		relative, err := filepath.Rel(host, at)
		if err != nil {
			return err
		}
		if err := sendInfo(stream, in, root, relative, entry); err != nil {
			return err
		}
		if entry.IsDir() && relative != "." && tooDeep(in, relative) {
			return fs.SkipDir
		}
		return nil
	})
}

// tooDeep tells whether what is inside a folder is not asked for.
func tooDeep(in *machine.ListRequest, relative string) bool {
	depth := int32(strings.Count(relative, "/")) + 1
	return !in.Recurse || in.RecursionDepth > 0 && depth >= in.RecursionDepth
}

// isListed decides by the kinds that a request asks for; all if it names none.
func isListed(in *machine.ListRequest, mode fs.FileMode) bool {
	kind := machine.ListRequest_REGULAR
	switch {
	case mode.IsDir():
		kind = machine.ListRequest_DIRECTORY
	case mode&fs.ModeSymlink != 0:
		kind = machine.ListRequest_SYMLINK
	}
	return len(in.Types) == 0 || slices.Contains(in.Types, kind)
}

func sendInfo(stream grpc.ServerStreamingServer[machine.FileInfo], in *machine.ListRequest, root, relative string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil || !isListed(in, info.Mode()) {
		return nil // gone meanwhile, or not asked for
	}
	return stream.Send(&machine.FileInfo{
		Name: path.Join(root, relative), RelativeName: relative, Size: info.Size(), Mode: uint32(info.Mode()),
		Modified: info.ModTime().Unix(), IsDir: info.IsDir(),
	})
}
