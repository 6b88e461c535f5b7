// Command build makes the control plane that the tests run: kube-apiserver,
// kube-controller-manager, kubectl and etcd, from their Go modules, into
// bin/k8s-<version> of the repository; with --etcd an etcd server and its etcdutl
// instead, into bin/etcd-<version>; with --s3 an object store, into
// bin/versitygw-<version>; with --wrapped programs that can run in the pods
// of test/node, into bin/wrapped. What is there already and was made from the
// same module files and flags is reused.
//
// The folder's path is the only thing on stdout (one a line with --etcd all);
// progress goes to stderr. The module uses the standard library alone, so that it
// starts at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// assetsVariable names a folder of ready binaries, as envtest knows it.
const assetsVariable = "KUBEBUILDER_ASSETS"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// errUsage says that the flags were wrong; the flag package has told why.
var errUsage = errors.New("usage")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.SetOutput(stderr)
	minor := flags.String("version", "", "Kubernetes `minor`, such as 1.34 (default: the newest one here)")
	etcd := flags.String("etcd", "", "etcd `minor`, such as 3.5, or all, in place of a control plane")
	store := flags.Bool("s3", false, "an object store, in place of a control plane")
	wrapped := flags.Bool("wrapped", false, "programs that can run in the tests' pods: those of --etcd, else the product's")
	root := flags.String("root", "", "the repository's `folder` (default: searched upwards from here)")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return errUsage
	}
	if (*etcd != "" || *wrapped) && *minor != "" {
		fmt.Fprintln(stderr, "--version excludes --etcd and --wrapped")
		return errUsage
	}
	if *store && (*etcd != "" || *wrapped || *minor != "") {
		fmt.Fprintln(stderr, "--s3 excludes --version, --etcd and --wrapped")
		return errUsage
	}
	// A folder of ready binaries is a control plane's; its etcd is of one version.
	if assets := os.Getenv(assetsVariable); assets != "" && *etcd == "" && !*wrapped && !*store {
		return useAssets(assets, stdout, stderr)
	}
	plans, repository, err := makePlans(*root, *minor, *etcd, *wrapped, *store)
	if err != nil {
		return err
	}
	for _, p := range plans {
		if err := p.bringUpToDate(ctx, repository, stderr); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(stdout, p.dir); err != nil {
			return fmt.Errorf("print the folder: %w", err)
		}
	}
	return nil
}

// makePlans answers what is asked for, and the repository's folder.
func makePlans(root, minor, etcd string, wrapped, store bool) ([]*plan, string, error) {
	root, err := findRoot(root)
	if err != nil {
		return nil, "", err
	}
	switch {
	case store:
		p, err := storePlan(root)
		return []*plan{p}, root, err
	case etcd != "":
		plans, err := etcdPlans(root, etcd, wrapped)
		return plans, root, err
	case wrapped:
		return []*plan{wrappedProduct(root)}, root, nil
	}
	p, err := makePlan(root, minor)
	return []*plan{p}, root, err
}

// useAssets answers with a folder that somebody else filled, if it holds what
// every test needs. The controller manager is not asked for: envtest's own
// bundles have none.
func useAssets(dir string, stdout, stderr io.Writer) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%s=%s: give it as an absolute path: the tests run in many folders", assetsVariable, dir)
	}
	for _, name := range []string{"kube-apiserver", "etcd", "kubectl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s=%s: %s is missing there: put it in, or unset the variable to have it built: %w",
				assetsVariable, dir, name, err)
		}
	}
	fmt.Fprintf(stderr, "control plane: using %s=%s\n", assetsVariable, dir)
	_, err := fmt.Fprintln(stdout, dir)
	return err
}

// bringUpToDate builds what is missing in the plan's folder. What is there is used
// at once, even while another version is being built.
func (p *plan) bringUpToDate(ctx context.Context, root string, stderr io.Writer) error {
	if missing, err := p.missing(); err != nil || len(missing) == 0 {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for the binaries: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(root, "bin", ".tools.lock"), stderr)
	if err != nil {
		return err
	}
	defer unlock()
	return p.build(ctx, newProgress(stderr))
}
