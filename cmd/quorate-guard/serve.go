package main

import (
	"github.com/spf13/cobra"
)

const serveHelp = `Answer readiness by a linearizable read through the member, and promote it as soon
as etcd allows that: a sidecar. /readyz is 503 with the reason while the member does
not serve; /healthz is always 200.`

func newServeCommand() *cobra.Command {
	var c common
	var address string
	cmd := &cobra.Command{
		Use: "serve", Short: "Answer readiness, and promote the member", Long: serveHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := c.agent(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return a.Serve(cmd.Context(), address)
		},
	}
	c.register(cmd.Flags())
	cmd.Flags().StringVar(&address, "bind-address", ":8081", "host:port of the probes")
	return cmd
}
