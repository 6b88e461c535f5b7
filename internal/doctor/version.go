package doctor

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// JudgeVersion says whether a server of that git version, e.g. v1.37.2, is one
// that this version of Quorate is tested with.
func JudgeVersion(gitVersion string, minors []int) Finding {
	first, last := slices.Min(minors), slices.Max(minors)
	v, err := version.ParseGeneric(gitVersion)
	if err != nil || v.Major() == 0 {
		return Finding{Unknown, fmt.Sprintf("the server calls itself %q, which names no release", gitVersion),
			fmt.Sprintf("Make sure that it is one of Kubernetes 1.%d to 1.%d.", first, last)}
	}
	minor := int(v.Minor())
	if v.Major() == 1 && slices.Contains(minors, minor) {
		return Finding{State: OK, Seen: fmt.Sprintf("Kubernetes %s is supported", gitVersion)}
	}
	if v.Major() == 1 && minor < first {
		return Finding{Failed, fmt.Sprintf("Kubernetes %s is older than 1.%d", gitVersion, first),
			fmt.Sprintf("Upgrade Kubernetes to at least 1.%d: rules may not compile on this server.", first)}
	}
	return Finding{Warning, fmt.Sprintf("Kubernetes %s is newer than 1.%d, the last that this version was tested with", gitVersion, last),
		"Look for a newer Quorate."}
}
