package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/quorate/quorate/test/node/wrap"
)

// errPull: there is no program for the image.
var errPull = errors.New("pull the image")

// command is what the container runs here: paths, variables and listeners are those
// of this machine.
func (c *container) command() (command, error) {
	binary, err := c.w.k.options.Programs(c.spec.Image, c.spec.Command)
	if err != nil {
		return command{}, fmt.Errorf("%w %q: %w", errPull, c.spec.Image, err)
	}
	env, err := c.w.environment(&c.spec)
	if err != nil {
		return command{}, err
	}
	message, err := c.messageFile()
	if err != nil {
		return command{}, err
	}
	where := append(paths{{c.messagePath(), message}}, c.w.paths...).sorted()
	args := append([]string(nil), c.spec.Args...)
	if len(c.spec.Command) > 1 {
		args = append(append([]string(nil), c.spec.Command[1:]...), args...)
	}
	for i, arg := range args {
		args[i] = c.here(where, expand(arg, env))
	}
	for name, value := range env {
		env[name] = c.here(where, value)
	}
	c.surround(env)
	return command{binary: binary, args: args, env: env, dir: c.dir, log: c.logFile()}, nil
}

// here moves a text to this machine.
func (c *container) here(where paths, text string) string {
	return strings.ReplaceAll(where.replace(text), "0.0.0.0:", loopback(c.w.address)+":")
}

// surround adds what every container has.
func (c *container) surround(env map[string]string) {
	for name, value := range map[string]string{
		"PATH":               os.Getenv("PATH"),
		"HOME":               c.dir,
		"HOSTNAME":           c.w.pod.Name,
		wrap.DNSVariable:     c.w.k.DNS(),
		wrap.AddressVariable: loopback(c.w.address),
	} {
		if _, given := env[name]; !given {
			env[name] = value
		}
	}
}

func (c *container) messagePath() string {
	if c.spec.TerminationMessagePath != "" {
		return c.spec.TerminationMessagePath
	}
	return corev1.TerminationMessagePathDefault
}

// messageFile makes the termination message anew, empty: programs only find it there.
func (c *container) messageFile() (string, error) {
	file := filepath.Join(c.dir, "termination-log")
	if err := errors.Join(os.MkdirAll(c.dir, 0o755), os.WriteFile(file, nil, 0o600)); err != nil {
		return "", fmt.Errorf("make the termination message: %w", err)
	}
	return file, nil
}

func (c *container) logFile() string { return filepath.Join(c.dir, "log") }

// What a kubelet takes of a message, and of a log in its place.
const (
	messageBytes = 4096
	logBytes     = 2048
	logLines     = 80
)

// farewell is the message of a container that has ended.
func (c *container) farewell(code int) string {
	content, err := os.ReadFile(filepath.Join(c.dir, "termination-log"))
	if err != nil {
		return "read the termination message: " + err.Error()
	}
	if len(content) == 0 && code != 0 && c.spec.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
		return c.lastWords()
	}
	return string(content[:min(len(content), messageBytes)])
}

// lastWords is the end of the log since the last start.
func (c *container) lastWords() string {
	c.mu.Lock()
	from := c.logFrom
	c.mu.Unlock()
	file, err := os.Open(c.logFile())
	if err != nil {
		return "read the log: " + err.Error()
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "read the log: " + err.Error()
	}
	from = max(from, info.Size()-logBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	if err != nil {
		return "read the log: " + err.Error()
	}
	lines := strings.SplitAfter(string(content), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "")
}

// id is the container's, as the API wants it: one for each start.
func (c *container) id() string {
	return "process://" + string(c.w.pod.UID) + "/" + c.spec.Name + "/" + strconv.Itoa(int(c.restarts))
}
