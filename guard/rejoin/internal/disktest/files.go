// Package disktest makes disks for the tests of their readers.
package disktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Edit rewrites a file.
func Edit(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	Must(t, err)
	Must(t, os.WriteFile(path, change(data), 0o600))
}

// Must ends the test with an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Listing is every name, size, mode and time of change below a directory.
func Listing(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil // a file where a folder should be, on purpose
		}
		info, err := d.Info()
		Must(t, err)
		out.WriteString(path + info.Mode().String() + info.ModTime().String() + info.Name() + "\n")
		return nil
	})
	return out.String()
}
