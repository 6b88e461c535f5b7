// Package cel is the rule engine: one rule a file, judged with one meaning in
// three layers (CRD validation, the webhook, a ValidatingAdmissionPolicy).
//
// It loads and validates rule files, compiles them for every supported
// Kubernetes minor, evaluates them with three-valued verdicts, explains which
// sub-expression decided, and generates CRD rules and policies from the same
// files. It does no I/O beyond the file system it is given and knows no client.
package cel
