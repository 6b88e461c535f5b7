package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ErrRefused says that kubectl ran and the API server, or kubectl itself, said no.
var ErrRefused = errors.New("refused")

// Apply applies manifests, given as YAML, as the administrator.
func (c *Cluster) Apply(ctx context.Context, manifests string) error {
	return c.apply(ctx, manifests, "-f", "-")
}

// ApplyKustomize applies a kustomization folder as the administrator.
func (c *Cluster) ApplyKustomize(ctx context.Context, dir string) error {
	return c.apply(ctx, "", "-k", dir)
}

// apply works on the server's side: the last-applied annotation of the other
// way would not hold our larger CRDs.
func (c *Cluster) apply(ctx context.Context, stdin string, args ...string) error {
	args = append([]string{"apply", "--server-side", "--force-conflicts"}, args...)
	result, err := c.KubectlInput(ctx, c.admin.Kubeconfig, stdin, args...)
	if err != nil {
		return err
	}
	if result.Code != 0 {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), ErrRefused, result.Stderr)
	}
	return nil
}

// InstallCRDs creates or replaces the definitions and waits until each is
// served. The API server takes over a changed schema a moment after it has
// accepted it: who replaces one waits for the first verdict of the new schema.
func (c *Cluster) InstallCRDs(ctx context.Context, crds ...*apiextensionsv1.CustomResourceDefinition) error {
	client, err := apiextensions.NewForConfig(c.admin.Config)
	if err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	for _, crd := range crds {
		if err := applyCRD(ctx, client.CustomResourceDefinitions(), crd); err != nil {
			return fmt.Errorf("install CRD %s: %w", crd.Name, err)
		}
	}
	for _, crd := range crds {
		err := Until(ctx, "CRD "+crd.Name, func(ctx context.Context) error {
			return established(ctx, client.CustomResourceDefinitions(), crd.Name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func applyCRD(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, crd *apiextensionsv1.CustomResourceDefinition) error {
	crd = crd.DeepCopy()
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	body, err := json.Marshal(crd)
	if err != nil {
		return err
	}
	force := true
	_, err = client.Patch(ctx, crd.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "quorate-test", Force: &force})
	return err
}

// established answers what keeps the CRD from being served, if anything.
func established(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, name string) error {
	crd, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	var said []string
	for _, condition := range crd.Status.Conditions {
		if condition.Status != apiextensionsv1.ConditionTrue {
			said = append(said, fmt.Sprintf("condition %s is %s: %s", condition.Type, condition.Status, condition.Message))
		} else if condition.Type == apiextensionsv1.Established {
			return nil
		}
	}
	if said == nil {
		return errors.New("the API server has not looked at it yet")
	}
	return errors.New(strings.Join(said, "; "))
}
