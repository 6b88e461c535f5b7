package parity

import (
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/utils/ptr"
)

// texts are tried for every string; each schema keeps those that fit. Some are
// as long as a limit allows, or not of ASCII.
var texts = []any{
	"", "a", "prod", "staging", "ünïcode 😀", "no", "3.5.21", "3.6.14", "3.7.0",
	strings.Repeat("a", 63), strings.Repeat("a", 253), strings.Repeat("b", 300),
	"https://a.example.com:2379", "http://b.example.com:2380", "https://store.example.com/x",
	"@hourly", "*/5 * * * *", "ERR_QUORUM_UNSAFE_MEMBER_REMOVAL", "8Gi", "1", "Reason", "path/to",
	"2030-01-02T15:04:05Z", "2031-12-31T23:59:59Z",
}

// numbers are tried for every integer, beside the schema's own limits.
var numbers = []int64{0, 1, 2, 3, 5, 1 << 40}

// samplesOf gives a scalar schema's values: limits, default, enumeration, texts.
func samplesOf(s *schema.Structural) []any {
	v := ptr.Deref(s.ValueValidation, schema.ValueValidation{})
	var out []any
	for _, e := range v.Enum {
		out = append(out, e.Object)
	}
	if len(out) > 0 {
		return out
	}
	switch {
	case s.Type == "boolean":
		return []any{true, false}
	case s.XIntOrString:
		return []any{"8Gi", "500m", int64(1)}
	case s.Type == "integer":
		for _, limit := range []*float64{v.Minimum, v.Maximum} {
			if limit != nil {
				out = append(out, int64(*limit), int64(*limit)-1, int64(*limit)+1)
			}
		}
		for _, n := range numbers {
			if v.Format != "int32" || n < 1<<31 {
				out = append(out, n)
			}
		}
		return out
	}
	return texts
}

// hints are the values that rules are about, so that these meet often enough.
// Repetition is weight.
var hints = map[string][]any{
	"status.conditions[*].type":   {"ScaleOperationInProgress", "ScaleOperationInProgress", "BootstrappedWithExistingCluster", "Stalled", "Removal", "Ready"},
	"status.conditions[*].status": {"True", "True", "True", "False", "Unknown"},
	"status.conditions[*].reason": {"ScalingIn", "ScalingOut", "BootstrapMembersRemoval", "NoScaleOperation", "Joining"},

	"spec.replicas":              {int64(0), int64(1), int64(2), int64(3), int64(5), int64(9)},
	"status.hibernatedReplicas":  {int64(1), int64(3), int64(5)},
	"status.scaleOperation.type": {"ScalingOut", "ScalingOut", "ScalingIn", "BootstrapMembersRemoval"},
	"status.scaleOperation.from": {int64(1), int64(3)},

	"spec.etcd.bootstrapWithExistingCluster.members[*].name":        sources,
	"spec.etcd.bootstrapWithExistingCluster.members[*].peerURLs[*]": {"https://src.example.com:2380", "https://moved.example.com:2380"},
	"status.bootstrapWithExistingClusterMembers[*].name":            sources,

	"spec.clusterRef.name":        {"prod", "staging"},
	"spec.controlPlane.count":     {int64(1), int64(3), int64(5), int64(5)},
	"spec.kind":                   {"etcd-restore", "etcd-restore", "etcd-restore", "etcd-defrag"},
	"spec.etcdRestore.confirm":    {"prod", "prod", "staging"},
	"spec.etcdRestore.snapshot":   {"etcd-20300102T150405Z.snapshot.age", "etcd-20300102T150405Z.snapshot.age", "etcd-latest.snapshot.age"},
	"status.etcdRestore.step":     {"Wiping", "Recovering", "Rejoining", "Reconciling"},
	"status.etcdMember.id":        {"a1", "a2"},
	"status.members[*].id":        {"a1", "a2", "a3"},
	"status.removedMembers[*].id": {"b1", "b2"},
}

// sources are the members of a cluster that is joined.
var sources = []any{"src-0", "src-1", "src-2", "src-3"}

// presence is how often an optional property is there; usual is for all others.
var presence = map[string]float64{
	"status": 0.95, "status.conditions": 0.9,
	"spec.etcd": 0.85, "spec.etcd.bootstrapWithExistingCluster": 0.75, "spec.pod": 0.1,
	"status.bootstrapWithExistingClusterMembers": 0.6, "status.scaleOperation": 0.6, "status.hibernatedReplicas": 0.7,
	"spec.etcdRestore": 0.8, "status.etcdRestore": 0.6, "status.etcdMember": 0.7,
}

const usual = 0.3

func presenceOf(path string) float64 {
	if share, ok := presence[path]; ok {
		return share
	}
	return usual
}
