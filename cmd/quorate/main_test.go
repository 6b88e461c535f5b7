package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"version", []string{"version"}, exitOK, "v9.9.9\n", ""},
		{"unknown command", []string{"nothing"}, exitUsage, "", "quorate: unknown command \"nothing\" for \"quorate\"\n"},
		{"too many arguments", []string{"version", "now"}, exitUsage, "", "quorate: unknown command \"now\" for \"quorate version\"\n"},
		{"unknown flag", []string{"version", "--now"}, exitUsage, "", "quorate: unknown flag: --now\n"},
		{"no such kubeconfig", []string{"manager", "--kubeconfig", "testdata/absent"}, exitUsage, "", "quorate: stat testdata/absent: no such file or directory\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			linked := version
			version = "v9.9.9"
			defer func() { version = linked }()
			var stdout, stderr bytes.Buffer
			if code := run(context.Background(), c.args, &stdout, &stderr); code != c.code {
				t.Errorf("exit code = %d, want %d", code, c.code)
			}
			if stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("stdout %q, stderr %q; want %q, %q", stdout.String(), stderr.String(), c.stdout, c.stderr)
			}
		})
	}
}

func TestExitCodeOf(t *testing.T) {
	failure := errors.New("refused")
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{failure, exitFailed},
		{usageError(failure), exitUsage},
		{fmt.Errorf("test: %w", &exitError{exitThreshold, failure}), exitThreshold},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("exit code of %v = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestBuildVersion(t *testing.T) {
	built := func(v string, ok bool) func() (*debug.BuildInfo, bool) {
		return func() (*debug.BuildInfo, bool) {
			return &debug.BuildInfo{Main: debug.Module{Version: v}}, ok
		}
	}
	for _, c := range []struct {
		linked string
		read   func() (*debug.BuildInfo, bool)
		want   string
	}{
		{"v1.2.3", built("v0.0.1", true), "v1.2.3"},
		{"", built("v0.0.1", true), "v0.0.1"},
		{"", built("", true), "unknown"},
		{"", built("", false), "unknown"},
	} {
		if got := buildVersion(c.linked, c.read); got != c.want {
			t.Errorf("version = %q, want %q", got, c.want)
		}
	}
}
