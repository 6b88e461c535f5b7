package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/quorate/quorate/internal/agent"
)

// common are the flags of every command.
type common struct {
	config, name string
	listTimeout  time.Duration
}

func (c *common) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.config, "config", "/etc/quorate/guard.yaml", "path of the configuration")
	flags.StringVar(&c.name, "name", memberName(), "name of the member, ending in its ordinal; POD_NAME or the host's name if not given")
	flags.DurationVar(&c.listTimeout, "list-timeout", agent.DefaultListTimeout, "how long the cluster may take to answer")
}

func memberName() string {
	if name := os.Getenv("POD_NAME"); name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return "" // the agent then asks for a name
	}
	return name
}

var errTimeout = errors.New("--list-timeout must be above 0")

// agent logs to stderr, so that stdout is for answers.
func (c *common) agent(stderr io.Writer) (*agent.Agent, error) {
	if c.listTimeout <= 0 {
		return nil, usage(errTimeout)
	}
	return &agent.Agent{
		ConfigFile: c.config, Name: c.name, Witnesses: newWitnesses(), ListTimeout: c.listTimeout,
		Log: slog.New(slog.NewTextHandler(stderr, nil)),
	}, nil
}
