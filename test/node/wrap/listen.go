package wrap

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// configFlag names etcd's configuration file.
const configFlag = "--config-file"

// movedSuffix is that of the file that takes the place of the given one: it stands
// beside it, since etcd may read paths relative to it.
const movedSuffix = ".moved"

// move makes etcd listen at one address: a configuration file with other URLs takes
// the place of the one that the arguments name. Without such a file they stay.
func move(args []string, address string) ([]string, error) {
	out := append([]string(nil), args...)
	for i, arg := range out {
		switch {
		case strings.HasPrefix(arg, configFlag+"="):
			path, err := moveFile(strings.TrimPrefix(arg, configFlag+"="), address)
			if err != nil {
				return nil, err
			}
			out[i] = configFlag + "=" + path
		case arg == configFlag && i+1 < len(out):
			path, err := moveFile(out[i+1], address)
			if err != nil {
				return nil, err
			}
			out[i+1] = path
			return out, nil
		}
	}
	return out, nil
}

func moveFile(path, address string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("move etcd's listeners: %w", err)
	}
	moved := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+movedSuffix)
	if err := os.WriteFile(moved, []byte(moveURLs(string(content), address)), 0o600); err != nil {
		return "", fmt.Errorf("move etcd's listeners: %w", err)
	}
	return moved, nil
}

// listenLine is one of etcd's options that say where it listens.
var listenLine = regexp.MustCompile(`(?m)^listen-[a-z]+-urls:.*$`)

func moveURLs(config, address string) string {
	return listenLine.ReplaceAllStringFunc(config, func(line string) string {
		return strings.ReplaceAll(line, "0.0.0.0", address)
	})
}
