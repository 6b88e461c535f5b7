package suite

import (
	"slices"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/quorate/quorate/cel"
)

// The variables of rules without a CRD layer, besides request and authorizer.
const (
	selfVar    = "self"
	oldSelfVar = "oldSelf"
	liveVar    = "live"
)

// gateScope is that of a rule that only admission judges: schemaless objects,
// the request, the authorizer and the live world.
type gateScope struct {
	celEnv *celgo.Env
	rule   *cel.Rule
	path   []string
	kind   metav1.GroupVersionKind
}

func newGateScope(r *cel.Rule, k *kind, group string) (*gateScope, error) {
	request := admissioncel.BuildRequestType()
	env, err := extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []celgo.EnvOption{
			celgo.Variable(selfVar, celgo.DynType),
			celgo.Variable(oldSelfVar, celgo.DynType),
			celgo.Variable(liveVar, celgo.MapType(celgo.StringType, celgo.DynType)),
			celgo.Variable(admissioncel.RequestVarName, request.CelType()),
			celgo.Variable(admissioncel.AuthorizerVarName, library.AuthorizerType),
		},
		DeclTypes: []*apiservercel.DeclType{request},
	})
	if err != nil {
		return nil, err
	}
	return &gateScope{celEnv: env, rule: r, path: stepsOf(r.Path), kind: metav1.GroupVersionKind{
		Group: group, Version: strings.TrimPrefix(k.apiVersion, group+"/"), Kind: k.name,
	}}, nil
}

func (s *gateScope) env() *celgo.Env { return s.celEnv }

func (s *gateScope) bind(r *cel.Request) (map[string]any, error) {
	if !slices.Contains(s.rule.RunsOn(), r.Operation) || !slices.Contains(s.rule.RunsFor(), r.Subresource) {
		return nil, errNotJudged
	}
	return map[string]any{
		selfVar:                        s.node(r.Object),
		oldSelfVar:                     s.node(r.OldObject),
		liveVar:                        r.Live,
		admissioncel.RequestVarName:    s.request(r),
		admissioncel.AuthorizerVarName: library.NewAuthorizerVal(userInfo(r), r.Authorizer),
	}, nil
}

// node is null where it or anything above is absent.
func (s *gateScope) node(object map[string]any) any {
	if object == nil {
		return types.NullValue
	}
	if len(s.path) == 0 {
		return object
	}
	value, found, err := unstructured.NestedFieldNoCopy(object, s.path...)
	if err != nil || !found || value == nil {
		return types.NullValue
	}
	return value
}

func (s *gateScope) request(r *cel.Request) any {
	kind := s.kind
	resource := metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: r.Resource}
	if r.Subresource == cel.Scale {
		kind = metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	}
	return common.SchemalessTypedToVal(&admissionv1.AdmissionRequest{
		Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
		SubResource: r.Subresource, RequestSubResource: r.Subresource,
		Name: r.Name, Namespace: r.Namespace, Operation: admissionv1.Operation(r.Operation),
		UserInfo: r.User, DryRun: &r.DryRun,
	})
}

func userInfo(r *cel.Request) user.Info {
	extra := make(map[string][]string, len(r.User.Extra))
	for key, values := range r.User.Extra {
		extra[key] = values
	}
	return &user.DefaultInfo{Name: r.User.Username, UID: r.User.UID, Groups: r.User.Groups, Extra: extra}
}
