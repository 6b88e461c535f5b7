package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// writeGenerated makes the folder's generated files those given. Files that are
// right already keep their time.
func writeGenerated(progress io.Writer, dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for generated files: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, name)
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, files[name]) {
			continue
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil {
			return fmt.Errorf("write a generated file: %w", err)
		}
		fmt.Fprintf(progress, "wrote %s\n", file)
	}
	return removeStale(progress, dir, files)
}

// removeStale removes files that carry the header and are not generated any more.
func removeStale(progress io.Writer, dir string, files map[string][]byte) error {
	found, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return fmt.Errorf("find generated files: %w", err)
	}
	for _, file := range found {
		if _, wanted := files[filepath.Base(file)]; wanted {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a generated file: %w", err)
		}
		if !bytes.HasPrefix(data, []byte(generatedHeader)) {
			continue
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove a stale file: %w", err)
		}
		fmt.Fprintf(progress, "removed %s\n", file)
	}
	return nil
}
