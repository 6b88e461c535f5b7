package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/quorate/quorate/cel"
)

// deep lists the fields that merge onto the defaults; the value says whether
// null stays in the merged map.
var deep = map[string]bool{"old": false, "new": false, "live": false, "user": false, "patch": true}

func mergeCase(defaults, own map[string]any) map[string]any {
	merged := maps.Clone(defaults)
	if merged == nil {
		merged = map[string]any{}
	}
	for field, value := range own {
		keepNull, isDeep := deep[field]
		switch {
		case value == nil:
			delete(merged, field)
		case isDeep:
			merged[field] = overlay(merged[field], value, keepNull)
		default:
			merged[field] = value
		}
	}
	return merged
}

func buildCase(form caseForm, defaults, own map[string]any, src source, rule string) (*Case, error) {
	merged := mergeCase(defaults, own)
	c := &Case{
		Name: form.Name, At: src.position(src.own), Fires: form.Fires == nil || *form.Fires, source: src,
		Operation:   cel.Operation(text(merged["operation"])),
		Subresource: text(merged["subresource"]),
		Controller:  merged["controller"] == true,
		DryRun:      merged["dryRun"] == true,
		Raw:         merged["raw"] == true,
		Warnings:    texts(merged["warnings"]),
		Allow:       grants(merged["allow"]),
		User:        DefaultUser,
	}
	c.Old, _ = merged["old"].(map[string]any)
	c.New, _ = merged["new"].(map[string]any)
	c.Patch, _ = merged["patch"].(map[string]any)
	c.Live, _ = merged["live"].(map[string]any)
	if user, ok := merged["user"].(map[string]any); ok {
		setUser(c, user)
	}
	var err error
	c.Expect, err = readExpect(merged["expect"], text(merged["message"]), rule, src)
	return c, errors.Join(checkCase(c), err)
}

// setUser replaces the parts of the default user that the case names.
func setUser(c *Case, user map[string]any) {
	if name := text(user["name"]); name != "" {
		c.User.Username = name
	}
	if groups := texts(user["groups"]); groups != nil {
		c.User.Groups = groups
	}
	c.User.UID = text(user["uid"])
	extra, _ := user["extra"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if c.User.Extra == nil {
			c.User.Extra = map[string]authenticationv1.ExtraValue{}
		}
		c.User.Extra[key] = texts(extra[key])
	}
}

func checkCase(c *Case) error {
	var problems []error
	if c.Name == "" {
		problems = append(problems, c.source.errorf(c.At, "name: a case needs a name"))
	}
	if !slices.Contains([]string{cel.Main, cel.Status, cel.Scale}, c.Subresource) {
		problems = append(problems, c.source.errorf(c.source.at("subresource"),
			"subresource: %q is unknown; want status or scale", c.Subresource))
	}
	if problem := operationProblem(c); problem != "" {
		problems = append(problems, c.source.errorf(c.source.at("operation"), "%s", problem))
	} else {
		c.Operation = operationOf(c)
	}
	if _, user := child(c.source.own, "user"); user != nil && c.Controller {
		problems = append(problems, c.source.errorf(c.source.at("user"), "user: controller: true already says who asks"))
	}
	return errors.Join(problems...)
}

func operationProblem(c *Case) string {
	changed := c.New != nil || c.Patch != nil
	switch c.Operation {
	case "":
		switch {
		case c.Old != nil && !changed:
			return "operation: old alone is no request; add new or patch, or say operation: DELETE"
		case c.Old == nil && c.New == nil:
			return "old: the case has no object"
		}
	case cel.Create:
		if c.Old == nil && c.New == nil {
			return "operation: CREATE needs new, or old to take the object from"
		}
	case cel.Update:
		if c.Old == nil || !changed {
			return "operation: UPDATE needs old, and new or patch"
		}
	case cel.Delete:
		if c.Old == nil {
			return "operation: DELETE needs old"
		}
	default:
		return fmt.Sprintf("operation: %q is unknown; want CREATE, UPDATE or DELETE", c.Operation)
	}
	return ""
}

func operationOf(c *Case) cel.Operation {
	switch {
	case c.Operation != "":
		return c.Operation
	case c.Old != nil:
		return cel.Update
	}
	return cel.Create
}
