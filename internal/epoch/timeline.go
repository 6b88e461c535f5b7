package epoch

import (
	"strconv"
	"sync"
)

// rewindLeap is how far an API server's revision jumps between two looks only where its
// etcd was rewound: the recovered etcd begins 1e9 beyond all that the old one reached. By
// writes it takes 14 h at 10,000 a second.
const rewindLeap = 500_000_000

// Timeline tells by the revision of an API server's etcd that it was rewound between two
// looks: by a restore of Quorate it is higher by a leap then, and by one of a bare snapshot
// lower. Safe for many at once.
type Timeline struct {
	mu sync.Mutex
	at uint64
}

// Rewound takes the resource version of a list that was read from the API server itself,
// and tells whether the list before it was of another timeline. One that is no number, as
// of an API server without etcd, tells nothing.
func (t *Timeline) Rewound(resourceVersion string) bool {
	is, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.at
	t.at = is
	return was > 0 && (is < was || is-was >= rewindLeap)
}
