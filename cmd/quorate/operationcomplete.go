package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/api/v1alpha1"
)

// completeTimeout bounds what a key press may wait for.
const completeTimeout = 3 * time.Second

// complete offers the first argument: operations, or only what can be released.
func (o *operationOptions) complete(held bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
		defer cancel()
		namespace, err := o.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		found, err := o.find(ctx, namespace)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return found.names(held), cobra.ShellCompDirectiveNoFileComp
	}
}

// names are arguments by which what was found can be told.
func (f findings) names(held bool) (out []string) {
	if !held {
		for _, op := range f.Operations {
			out = append(out, op.Name)
		}
		return out
	}
	for i := range f.Operations {
		if op := &f.Operations[i]; op.Status.Phase == v1alpha1.PhasePaused && stepOf(op) != "" {
			out = append(out, subject{"TalosOperation", op.Name}.String())
		}
	}
	for _, h := range f.Held {
		out = append(out, subject{h.Kind, h.Name}.String())
	}
	return out
}
