package rejoin

import (
	"crypto/sha1" //nolint:gosec // etcd's own choice, not a matter of secrecy
	"encoding/binary"
	"slices"
	"strings"
)

// Founder is a member of an initial cluster.
type Founder struct {
	Name     string
	PeerURLs []string
}

// Founding are the IDs that an initial cluster has: etcd makes them of the token and
// the founders' peer URLs alone, so they are known before it has formed.
type Founding struct {
	ClusterID ID
	Members   map[ID]string // names
}

// FoundingOf computes the IDs as etcd does (computeMemberID and genID in
// etcdserver/api/membership, the same in 3.5 to 3.7). Without founders it is zero.
func FoundingOf(token string, founders []Founder) Founding {
	if len(founders) == 0 {
		return Founding{}
	}
	f := Founding{Members: map[ID]string{}}
	var ids []ID
	for _, m := range founders {
		urls := slices.Sorted(slices.Values(m.PeerURLs))
		id := hashed([]byte(strings.Join(urls, "") + token))
		f.Members[id] = m.Name
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var all []byte
	for _, id := range ids {
		all = binary.BigEndian.AppendUint64(all, uint64(id))
	}
	f.ClusterID = hashed(all)
	return f
}

func hashed(b []byte) ID {
	sum := sha1.Sum(b) //nolint:gosec // see the import
	return ID(binary.BigEndian.Uint64(sum[:]))
}
