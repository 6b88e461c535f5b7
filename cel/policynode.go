package cel

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// nodeNames says what a schema node is called in a policy: object and oldObject
// at the root, else variables such as spec and oldSpec.
type nodeNames struct {
	path []string
}

func nodeOf(path string) (nodeNames, error) {
	node := nodeNames{path: steps(path)}
	for _, step := range node.path {
		if !identForm.MatchString(step) {
			return node, fmt.Errorf("path %q: %q is no identifier, as a policy's variable needs it", path, step)
		}
	}
	return node, nil
}

func (n nodeNames) root() bool { return len(n.path) == 0 }

func (n nodeNames) self() string {
	if n.root() {
		return "object"
	}
	return "variables." + n.variable("object").Name
}

func (n nodeNames) oldSelf() string {
	if n.root() {
		return "oldObject"
	}
	return "variables." + n.variable("oldObject").Name
}

// variable gives the node of object or oldObject: its value, or null where it or
// what is around it is absent. The name is the path in camel case.
func (n nodeNames) variable(of string) admissionregistrationv1.Variable {
	words := n.path
	if of == "oldObject" {
		words = append([]string{"old"}, n.path...)
	}
	name := words[0]
	for _, word := range words[1:] {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return admissionregistrationv1.Variable{
		Name:       name,
		Expression: of + ".?" + strings.Join(n.path, ".?") + ".orValue(null)",
	}
}
