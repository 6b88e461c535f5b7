package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"

	"github.com/quorate/quorate/internal/doctor"
	"github.com/quorate/quorate/internal/why"
)

type doctorOptions struct {
	flags   *genericclioptions.ConfigFlags
	names   doctor.Names
	timeout time.Duration
	// addresses reach the webhook from here.
	addresses []string
	output    string
}

const doctorHelp = `Examine an installation of Quorate; nothing is changed.

Is the webhook fail-closed, covering every rule, and answering? How long are its
certificates good for? Are the live CRDs and policies those of this version? Who
may impersonate the controller, create its tokens, or act as it in other ways?

What you may not read is reported as unknown, with the permission that is missing.

Exit codes: 0 nothing has failed, 1 a check has failed or the server does not
answer, 2 usage.`

func newDoctorCommand() *cobra.Command {
	o := doctorOptions{flags: newConfigFlags(), names: doctor.DefaultNames()}
	o.flags.Namespace = nil
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine an installation: webhook, certificates, drift, who may act as the controller",
		Long:  doctorHelp,
		Example: `  quorate doctor
  quorate doctor -o json | jq '.checks[] | select(.state != "ok")'
  quorate doctor --webhook-address 127.0.0.1:9443   # with kubectl port-forward to a manager`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.names.Namespace, "namespace", "n", o.names.Namespace, "namespace that Quorate is installed in")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Second, "deadline of each call")
	flags.StringSliceVar(&o.addresses, "webhook-address", nil, "host:port at which to look at the webhook's certificate; default: what the webhook configuration names")
	addOutputFlag(cmd, &o.output, listFormats)
	o.flags.AddFlags(flags)
	return cmd
}

var errUnwell = errors.New("at least one check has failed")

func runDoctor(cmd *cobra.Command, o doctorOptions) error {
	if err := checkOutput(o.output, listFormats); err != nil {
		return err
	}
	config, err := doctorConfig(cmd, o)
	if err != nil {
		return err
	}
	report, err := doctor.Run(cmd.Context(), config)
	if err != nil {
		return err
	}
	if o.output == "table" {
		err = report.WriteTable(cmd.OutOrStdout())
	} else {
		err = printData(cmd.OutOrStdout(), report, o.output)
	}
	if err == nil && report.Failed() {
		return &exitError{exitFailed, errUnwell}
	}
	return err
}

func doctorConfig(cmd *cobra.Command, o doctorOptions) (doctor.Config, error) {
	config, err := restConfig(o.flags)
	if err != nil {
		return doctor.Config{}, err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return doctor.Config{}, fmt.Errorf("make a client: %w", err)
	}
	extensions, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return doctor.Config{}, fmt.Errorf("make a client of CRDs: %w", err)
	}
	prober, err := why.NewAPI(config)
	if err != nil {
		return doctor.Config{}, err
	}
	expected, probe, err := thisVersion(cmd.Context(), o.names)
	if err != nil {
		return doctor.Config{}, err
	}
	return doctor.Config{Kube: kube, Extensions: extensions, Prober: prober, Names: o.names,
		Addresses: o.addresses, Expected: expected, Probe: probe, Timeout: o.timeout}, nil
}
