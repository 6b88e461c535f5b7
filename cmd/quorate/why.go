package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/quorate/quorate/internal/doctor"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/internal/why"
	"github.com/quorate/quorate/manifests"
)

// gateVersion is the version of our kinds that rules read live.
var gateVersion = schema.GroupVersion{Group: "quorate.dev", Version: "v1alpha1"}

type whyOptions struct {
	flags       *genericclioptions.ConfigFlags
	files       []string
	delete      bool
	replace     bool
	subresource string
	replicas    int32
	output      string
}

const whyHelp = `Ask a live API server what each of its layers says of a change, without making it.

The change is what kubectl apply would do with the object: create it, or change
the live one. It is sent as a dry run, so the first answer is the server's own. A
server stops at the first layer that refuses; what the layers behind it would say
of Quorate's own kinds is computed here, by the rules of this version over the
live object and with your rights, and marked "computed".

Exit codes: 0 allowed, 1 refused or no answer, 2 usage.`

func newWhyCommand() *cobra.Command {
	o := whyOptions{flags: newConfigFlags()}
	cmd := &cobra.Command{
		Use:   "why -f OBJECT",
		Short: "Tell which layer allows or refuses a change, and why",
		Long:  whyHelp,
		Example: `  quorate why -f etcd.yaml
  quorate why -f etcd.yaml --subresource scale --replicas 5
  quorate why -f machine.yaml --delete --as alice --as-group ops
  kubectl get etcd orders -o yaml | sed s/3/5/ | quorate why -f -`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runWhy(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "filename", "f", nil, "file, folder or URL with the object, - for standard input; several documents are asked about one by one")
	flags.BoolVar(&o.delete, "delete", false, "ask about deleting the object")
	flags.BoolVar(&o.replace, "replace", false, "send the object whole, as kubectl replace does")
	flags.StringVar(&o.subresource, "subresource", "", "ask about a change of this subresource: status or scale")
	flags.Int32Var(&o.replicas, "replicas", 0, "the size to scale to, with --subresource scale")
	addOutputFlag(cmd, &o.output, listFormats)
	o.flags.AddFlags(flags)
	return cmd
}

func runWhy(cmd *cobra.Command, o whyOptions) error {
	if err := errors.Join(checkOutput(o.output, listFormats), o.check(cmd)); err != nil {
		return usageError(err)
	}
	asks, err := o.asks(cmd)
	if err != nil {
		return err
	}
	config, err := whyConfig(o.flags)
	if err != nil {
		return err
	}
	config.Asks = asks
	report, err := why.Run(cmd.Context(), config)
	if err != nil {
		return err
	}
	if err := printWhy(cmd.OutOrStdout(), report, o.output); err != nil {
		return err
	}
	if report.Refused() {
		return &exitError{exitFailed, errRefused}
	}
	return nil
}

var (
	errRefused = errors.New("the API server refuses it")
	errNoFile  = errors.New("which object? Give its file with -f, or - for standard input")
)

// check finds contradictions before anything is asked of a server.
func (o whyOptions) check(cmd *cobra.Command) error {
	if len(o.files) == 0 {
		return errNoFile
	}
	return o.ask(cmd).Validate()
}

// ask is the question without its object.
func (o whyOptions) ask(cmd *cobra.Command) why.Ask {
	a := why.Ask{Delete: o.delete, Replace: o.replace, Subresource: o.subresource}
	if cmd.Flags().Changed("replicas") {
		a.Replicas = &o.replicas
	}
	return a
}

// asks reads the objects and finds the resource of each.
func (o whyOptions) asks(cmd *cobra.Command) ([]why.Ask, error) {
	namespace, enforce, err := o.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("find the namespace: %w", err)
	}
	builder := resource.NewBuilder(o.flags).Unstructured().NamespaceParam(namespace).DefaultNamespace()
	files := slices.DeleteFunc(slices.Clone(o.files), func(f string) bool { return f == "-" })
	if len(files) < len(o.files) {
		builder = builder.Stream(cmd.InOrStdin(), "standard input")
	}
	if len(files) > 0 {
		builder = builder.FilenameParam(enforce, &resource.FilenameOptions{Filenames: files})
	}
	infos, err := builder.Flatten().Do().Infos()
	if err != nil {
		return nil, fmt.Errorf("read the objects: %w", err)
	}
	asks := make([]why.Ask, 0, len(infos))
	for _, info := range infos {
		a := o.ask(cmd)
		a.Object = info.Object.(*unstructured.Unstructured)
		a.Target = why.Target{Resource: info.Mapping.Resource, Namespace: info.Namespace, Name: info.Name}
		asks = append(asks, a)
	}
	return asks, nil
}

func whyConfig(flags *genericclioptions.ConfigFlags) (why.Config, error) {
	gate, err := ownGate()
	if err != nil {
		return why.Config{}, err
	}
	config, err := restConfig(flags)
	if err != nil {
		return why.Config{}, err
	}
	server, err := why.NewAPI(config)
	if err != nil {
		return why.Config{}, err
	}
	live, err := kube.NewLive(config, gateVersion)
	if err != nil {
		return why.Config{}, err
	}
	return why.Config{Server: server, Live: live, Gate: gate}, nil
}

// ownGate compiles the rules that this binary carries.
func ownGate() (*why.Gate, error) {
	catalogue, err := loadRules(embeddedRules)
	if err != nil {
		return nil, err
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return nil, err
	}
	return why.NewGate(catalogue, crds, doctor.DefaultNames().Controller())
}

func printWhy(w io.Writer, report why.Report, output string) error {
	if output == "table" {
		return report.WriteTable(w)
	}
	return printData(w, report, output)
}
