package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// operationOptions are those that all commands on operations share.
type operationOptions struct {
	flags  *genericclioptions.ConfigFlags
	output string
	// client is made from flags; a test sets it.
	client client.Client
	now    func() time.Time
}

func newOperationOptions() *operationOptions {
	return &operationOptions{flags: newConfigFlags(), now: time.Now}
}

const operationHelp = `Follow TalosOperations, and let go what a restore holds.

A restore rewinds etcd, and brings back what was under way when the snapshot was
taken: unfinished operations, machines that were being deleted, Etcds at another
size. None of it runs by itself: it is held until a person releases it.`

func newOperationCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "operation",
		Aliases: []string{"operations", "op"},
		Short:   "Follow operations such as a restore, and release what a restore holds",
		Long:    operationHelp,
		Args:    usageArgs(cobra.NoArgs),
		RunE:    showHelp,
	}
	o := newOperationOptions()
	cmd.AddCommand(newOperationListCommand(o), newOperationGetCommand(o), newOperationWatchCommand(o), newOperationReleaseCommand(o))
	return cmd
}

// addFlags gives a command kubectl's flags.
func (o *operationOptions) addFlags(cmd *cobra.Command) { o.flags.AddFlags(cmd.Flags()) }

// connect makes the client, and finds the namespace.
func (o *operationOptions) connect() (namespace string, err error) {
	namespace, _, err = o.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("find the namespace: %w", err)
	}
	if o.client != nil {
		return namespace, nil
	}
	config, err := restConfig(o.flags)
	if err != nil {
		return "", err
	}
	o.client, err = newKube(config)
	return namespace, err
}

// subject is an object that a command line names.
type subject struct{ kind, name string }

// subjectKinds are the kinds that can be held, by what people call them.
var subjectKinds = map[string]string{
	"talosoperation": "TalosOperation", "talosoperations": "TalosOperation", "top": "TalosOperation", "operation": "TalosOperation",
	"talosmachine": "TalosMachine", "talosmachines": "TalosMachine", "tm": "TalosMachine", "machine": "TalosMachine",
	"etcd": "Etcd", "etcds": "Etcd",
}

var errSubject = errors.New("want NAME of a TalosOperation, or KIND/NAME with talosoperation, talosmachine or etcd")

// subjectOf reads NAME, which is an operation's, or KIND/NAME.
func subjectOf(arg string) (subject, error) {
	kind, name, ok := strings.Cut(arg, "/")
	if !ok {
		kind, name = "talosoperation", arg
	}
	full, known := subjectKinds[strings.ToLower(kind)]
	if !known || name == "" || strings.Contains(name, "/") {
		return subject{}, usageError(fmt.Errorf("%q: %w", arg, errSubject))
	}
	return subject{full, name}, nil
}

func (s subject) String() string { return strings.ToLower(s.kind) + "/" + s.name }

func (s subject) object() client.Object {
	switch s.kind {
	case "TalosMachine":
		return &v1alpha1.TalosMachine{}
	case "Etcd":
		return &v1alpha1.Etcd{}
	}
	return &v1alpha1.TalosOperation{}
}

// read gets the object.
func (o *operationOptions) read(ctx context.Context, namespace string, s subject) (client.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	out := s.object()
	if err := o.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: s.name}, out); err != nil {
		return nil, fmt.Errorf("get %s in %s: %w", s, namespace, err)
	}
	return out, nil
}

// operationOf reads an operation that an argument names.
func (o *operationOptions) operationOf(ctx context.Context, namespace, arg string) (*v1alpha1.TalosOperation, error) {
	s, err := subjectOf(arg)
	if err != nil {
		return nil, err
	}
	found, err := o.read(ctx, namespace, s)
	if err != nil {
		return nil, err
	}
	op, ok := found.(*v1alpha1.TalosOperation)
	if !ok {
		return nil, usageError(fmt.Errorf("%s is no TalosOperation", s))
	}
	return op, nil
}
