package restoreplan

import "strings"

// registry is where the API server keeps its objects in etcd.
const registry = "/registry/"

// object is what a key of the API server stands for.
type object struct{ kind, namespace, name string }

// renamed are the kinds that the API server keeps under another name than the one by
// which they are asked for.
var renamed = map[string]string{"minions": "nodes", "controllers": "replicationcontrollers"}

// bookkeeping are the API server's own records, which are no objects.
var bookkeeping = map[string]bool{"health": true, "masterleases": true, "ranges": true}

// parseKey reads /registry/[group/]resource/[namespace/]name; a group has a dot in it,
// and those of Kubernetes' first kinds are left out. ok is false for what is no object.
func parseKey(key string) (o object, ok bool) {
	rest, ok := strings.CutPrefix(key, registry)
	if !ok {
		return object{}, false
	}
	parts := strings.Split(rest, "/")
	o.kind, parts = parts[0], parts[1:]
	switch {
	case bookkeeping[o.kind]:
		return object{}, false
	case o.kind == "services" && len(parts) == 3: // specs or endpoints comes in between
		if parts[0] == "endpoints" {
			o.kind = "endpoints"
		}
		parts = parts[1:]
	case strings.Contains(o.kind, ".") && len(parts) > 1:
		o.kind, parts = parts[0]+"."+o.kind, parts[1:]
	case renamed[o.kind] != "":
		o.kind = renamed[o.kind]
	}
	switch len(parts) {
	case 1:
		o.name = parts[0]
	case 2:
		o.namespace, o.name = parts[0], parts[1]
	default:
		return object{}, false
	}
	return o, o.name != ""
}
