package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/test/talos"
)

// Member is one of etcd's list.
type Member struct {
	// Name is empty for one that has not started, and ID in hexadecimal.
	Name, ID        string
	PeerURLs        []string
	Learner, Leader bool
}

// askTimeout bounds one question to etcd.
const askTimeout = 3 * time.Second

// errNobody says that there is no control plane to ask.
var errNobody = errors.New("there is none")

// Members are etcd's own, by name: a linearizable list of the first control plane that
// answers, whose name is told too.
func (f *Fleet) Members(ctx context.Context) (members []Member, by string, err error) {
	err = errNobody
	for _, n := range f.Talos.ControlPlanes() {
		if members, err = membersBy(ctx, n); err == nil {
			return members, n.Name, nil
		}
	}
	return nil, "", fmt.Errorf("no control plane lists the members of etcd: %w", err)
}

func membersBy(ctx context.Context, n *talos.Node) (out []Member, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c, err := n.Etcd(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := c.MemberList(clientv3.WithRequireLeader(ctx))
	if err != nil {
		return nil, fmt.Errorf("ask the etcd of %s: %w", n.Name, err)
	}
	status, err := c.Status(ctx, c.Endpoints()[0])
	if err != nil {
		return nil, fmt.Errorf("ask the etcd of %s: %w", n.Name, err)
	}
	for _, m := range list.Members {
		out = append(out, Member{
			Name: m.Name, ID: strconv.FormatUint(m.ID, 16), PeerURLs: m.PeerURLs, Learner: m.IsLearner, Leader: m.ID == status.Leader,
		})
	}
	slices.SortFunc(out, func(a, b Member) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}
