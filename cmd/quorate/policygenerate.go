package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/suite"
)

// generatedHeader marks files that belong to the generator: it may overwrite and
// remove them.
const generatedHeader = "# Generated from the rule files by `quorate policy generate`. Change a rule and\n" +
	"# generate again; what is edited here is lost.\n"

type generateOptions struct {
	crds, crdOut, vapOut string
}

func newPolicyGenerateCommand() *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use:   "generate --crds DIR --crd-out DIR --vap-out DIR RULESDIR",
		Short: "Write rules into CRDs and ValidatingAdmissionPolicies",
		Long: `Write the rules of a folder into copies of the CRDs and into
ValidatingAdmissionPolicies with their bindings, each folder with a
kustomization.yaml. The same rules give the same bytes. Files that an earlier run
wrote and this one does not are removed; other files are left alone.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.crds == "" || o.crdOut == "" || o.vapOut == "" {
				return usageError(errors.New("--crds, --crd-out and --vap-out are all needed"))
			}
			return runPolicyGenerate(cmd.ErrOrStderr(), args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.crds, "crds", "", "folder of CRDs to write the rules into")
	cmd.Flags().StringVar(&o.crdOut, "crd-out", "", "folder for the CRDs with rules")
	cmd.Flags().StringVar(&o.vapOut, "vap-out", "", "folder for the policies and bindings")
	for _, name := range []string{"crds", "crd-out", "vap-out"} {
		_ = cmd.MarkFlagDirname(name)
	}
	return cmd
}

func runPolicyGenerate(progress io.Writer, dir string, o generateOptions) error {
	catalogue, err := loadRules(dir)
	if err != nil {
		return err
	}
	policy, err := suite.ReadPolicy(suite.HostFS{}, dir)
	if err != nil {
		return err
	}
	crds, err := suite.ReadCRDs(suite.HostFS{}, o.crds, []string{"*.yaml"})
	if err != nil {
		return err
	}
	crdFiles, err := generateCRDs(catalogue, crds)
	if err != nil {
		return err
	}
	policyFiles, err := generatePolicies(catalogue, policy.Controller)
	if err != nil {
		return err
	}
	return errors.Join(
		writeGenerated(progress, o.crdOut, crdFiles),
		writeGenerated(progress, o.vapOut, policyFiles))
}

// generateCRDs gives the files of the CRD folder by name.
func generateCRDs(c *cel.Catalogue, crds []*apiextensionsv1.CustomResourceDefinition) (map[string][]byte, error) {
	injected, err := cel.Inject(c, crds)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, crd := range injected {
		name := fmt.Sprintf("%s_%s.yaml", crd.Spec.Group, crd.Spec.Names.Plural)
		if files[name], err = encodeGenerated(crd); err != nil {
			return nil, err
		}
	}
	return withKustomization(files)
}

// generatePolicies gives the files of the policy folder: a policy with its
// binding each.
func generatePolicies(c *cel.Catalogue, controller string) (map[string][]byte, error) {
	policies, bindings, err := cel.Policies(c, controller)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, policy := range policies {
		name := policy.Name + ".yaml"
		if files[name], err = encodeGenerated(policy, bindings[i]); err != nil {
			return nil, err
		}
	}
	return withKustomization(files)
}

func withKustomization(files map[string][]byte) (map[string][]byte, error) {
	if len(files) == 0 {
		return files, nil
	}
	data, err := encodeGenerated(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  anyList(slices.Sorted(maps.Keys(files))),
	}})
	if err != nil {
		return nil, err
	}
	files["kustomization.yaml"] = data
	return files, nil
}

func anyList(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// encodeGenerated writes objects as YAML documents under the header, without
// what an API server would fill in.
func encodeGenerated(objects ...runtime.Object) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(generatedHeader)
	for _, object := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("encode a manifest: %w", err)
		}
		delete(content, "status")
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		data, err := yaml.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("encode a manifest: %w", err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes(), nil
}
