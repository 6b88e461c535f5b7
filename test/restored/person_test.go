package restored

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/test/s3"
)

// recoverCommand is how the way out begins in the log and in the status.
const recoverCommand = "quorate restore --recover-cluster "

// commandIn is the last way out that a text names; empty if it names none.
func commandIn(text string) string {
	i := strings.LastIndex(text, recoverCommand)
	if i < 0 {
		return ""
	}
	command, _, _ := strings.Cut(text[i:], "\n")
	command, _, _ = strings.Cut(command, `"`)
	return command
}

// handTimeout bounds a person's command.
const handTimeout = 5 * time.Minute

// byHand types a command as it is named, with the file of the bundle, and the two questions
// answered.
func byHand(t *testing.T, command string) {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "secrets.yaml")
	must(t, os.WriteFile(bundle, shared.Talos.Bundle(), 0o600))
	words := strings.Fields(strings.Replace(command, "BUNDLE.yaml", bundle, 1) + " --yes --confirm " + Cluster)
	ctx, cancel := context.WithTimeout(t.Context(), handTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, shared.Binary(), words[1:]...)
	cmd.Env = []string{"AWS_ACCESS_KEY_ID=" + s3.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + s3.SecretAccessKey, "TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, said)
	}
}
