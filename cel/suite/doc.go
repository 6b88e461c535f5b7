// Package suite tests policy rules: it judges cases in every layer that a rule
// is enforced in, measures which conditions the cases reach, and changes the
// rules to see whether a case notices.
//
// # Case files
//
// Cases live beside the rule, in RULE_test.yaml beside RULE.yaml. The smallest
// useful file is:
//
//	rule: no-shrink
//	cases:
//	- name: fewer replicas while busy
//	  old: {spec: {replicas: 3}, status: {phase: Busy}}
//	  patch: {spec: {replicas: 1}}
//	  expect: deny
//	  message: replicas cannot be lowered while the widget is busy; wait for status.phase Idle (no-shrink)
//	- name: fewer replicas while idle
//	  old: {spec: {replicas: 3}, status: {phase: Idle}}
//	  patch: {spec: {replicas: 1}}
//	  expect: allow
//
// Every field of a case, with its default:
//
//	name         unique in the file; required
//	doc          one line for the reader; free text
//	old          the object before. apiVersion, kind, metadata.name (sample) and
//	             metadata.namespace (default) are filled in where they are missing
//	new          the object after, whole
//	patch        a JSON merge patch that gives the object after: applied to new
//	             where there is one, else to old; null removes a field
//	operation    UPDATE with old and (new or patch), CREATE with new alone; DELETE
//	             is always spelled out. With an explicit CREATE and no new, old and
//	             patch give the created object
//	subresource  status or scale; default is the object itself. Objects are always
//	             the whole ones: for scale, the parents
//	user         {name, groups, uid, extra}; default {name: alice@example.com,
//	             groups: [system:authenticated]}
//	controller   true: the request is the controller's own (policy.yaml names it).
//	             The webhook lets it pass unjudged (verdict allow), CRD rules do
//	             not, a policy does where the rule binds all but the controller
//	dryRun       true or false (default)
//	raw          true: judge the objects as they are written, see Requests below
//	live         what the live world holds, by the rule's live names: an object, a
//	             list, or null for an object that does not exist. A live name of
//	             the rule that is left out is null (a list: empty)
//	allow        what the authorizer grants: [{verb, resource, name, group,
//	             namespace, subresource}]; group defaults to the catalogue's,
//	             namespace to the request's, an empty name means any. All else is
//	             denied
//	expect       the verdict, see below; required
//	message      the exact text of the denial or of the rule error, without the
//	             layer's prefix; required with deny and error
//	warnings     exact list of the webhook's warnings; not compared when absent
//	fires        false: the rule's expression is not meant to be evaluated here
//	             (wrong operation, absent node, creation under a transition rule, the
//	             controller where the rule does not bind it)
//
// # Defaults
//
// The file's defaults hold any of these fields but name, doc and fires. The maps
// old, new, patch, live and user of a case are merged deeply onto those of the
// defaults, where null removes a field (in patch null is kept: it is the patch's
// own way to remove); everything else replaces. A whole old: null, new: null or
// patch: null drops the default.
//
//	defaults:
//	  old: {spec: {replicas: 3}, status: {phase: Busy}}
//	cases:
//	- name: idle
//	  old: {status: {phase: Idle}}     # replicas: 3 stays
//	  patch: {spec: {replicas: 1}}
//	  expect: allow
//
// # Expectations
//
// A word is the verdict of every layer that the rule is enforced in:
//
//	expect: allow
//
// A map says more; verdict, rule, message and also are common to the layers, and
// a layer's own entry (a word or a map of the same four) overrides them:
//
//	expect:
//	  verdict: deny
//	  rule: other-rule           # who objects; default: the file's rule
//	  message: text              # same as the case's message
//	  also: [third-rule]         # further rules that object to the same request
//	  vap: allow                 # this layer differs
//	  webhook: {verdict: error, message: "no such key: status"}
//
// Verdicts are allow, deny, error (the rule could not be evaluated, which refuses
// the request) and skip (the layer does not judge this request). What no layer of
// a kind can see is skipped without a word: CRD rules on DELETE, a policy on
// scale. Every other difference between layers has to be stated. An objection by
// a rule that neither rule nor also names fails the case.
//
// # Requests are real ones
//
// Objects are completed the way an API server does it: schema defaults are
// applied, an update of the object keeps the old status, an update of status
// keeps the old spec, scale changes the replicas alone, a created object has no
// status (all for resources with these subresources). A case that asks for what
// would be dropped is an error, and so is a field unknown to the schema or a
// value that it refuses, with file, line and column. Required fields may be left
// out, for brevity.
//
// With raw: true none of that is done: the pair is judged as it is written, even
// one that no API server would let through to the rules, such as an update that
// changes spec and status at once. Unknown fields stay errors. A rule that stands
// such cases does not depend on who calls it, and mutants that only they can tell
// from the rule need no proof.
//
// # The folder's policy.yaml
//
//	version: v1
//	group: example.com                       # API group of the rules' resources
//	crds: [crds/*.yaml]                      # relative to this file
//	controller: system:serviceaccount:shop:widget-controller
//	equivalent:                              # mutants that change nothing
//	- rule: no-shrink
//	  mutant: drop-has has(self.spec)        # the ID that --mutate prints
//	  proof: The schema requires spec, so has(self.spec) is always true.
//
// # Errors of the suite itself
//
// No case at all, a rule without a case, a case file whose rule does not exist, a
// case whose rule never fired and that does not say so, an unknown field, a
// duplicate name: each fails the run.
package suite
