package main

import (
	"fmt"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// requestTimeout bounds requests for which no shorter deadline is set.
const requestTimeout = 30 * time.Second

// newConfigFlags gives kubectl's flags for finding a cluster and an identity.
// Server warnings are the commands' own business.
func newConfigFlags() *genericclioptions.ConfigFlags {
	return genericclioptions.NewConfigFlags(true).WithWrapConfigFn(func(c *rest.Config) *rest.Config {
		if c.Timeout == 0 {
			c.Timeout = requestTimeout
		}
		c.WarningHandler = rest.NoWarnings{}
		return c
	})
}

func restConfig(flags *genericclioptions.ConfigFlags) (*rest.Config, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	return config, nil
}
