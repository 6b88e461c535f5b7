package witness

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Missing is nil if the first of the paths that is not a folder is not there at
// all. A link that leads nowhere is no missing file: its volume may be.
func Missing(paths ...string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is a link that leads nowhere", path)
		}
		return nil
	}
	return nil
}

// OpenRegular opens a file for reading and nothing else: no pipe that would block,
// no device, no folder.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// Guarded turns a panic of a reader into its error: the readers open files that
// nobody vouches for.
func Guarded(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reader panicked: %v", p)
		}
	}()
	return read()
}
