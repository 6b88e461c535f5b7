package etcdcluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// RemoveMember asks once to remove a member; a member that is not found is removed.
// So a caller may ask again after any error: a call that goes through the member that
// leaves, or runs into its deadline, may have acted without an answer.
func RemoveMember(ctx context.Context, client *clientv3.Client, id uint64) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	_, err := client.MemberRemove(ctx, id)
	if errors.Is(err, rpctypes.ErrMemberNotFound) {
		return nil
	}
	return err
}

// AddLearner asks once to add a learner, and answers its ID; a learner that has the
// peer URL already is the one that was asked for. So a caller may ask again after any
// error.
func AddLearner(ctx context.Context, client *clientv3.Client, peerURL string) (id uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	added, err := client.MemberAddAsLearner(ctx, []string{peerURL})
	if err == nil {
		return added.Member.ID, nil
	}
	if !errors.Is(err, rpctypes.ErrPeerURLExist) {
		return 0, err
	}
	list, unlisted := client.MemberList(ctx)
	if unlisted != nil {
		return 0, errors.Join(err, unlisted)
	}
	for _, m := range list.Members {
		if m.IsLearner && slices.Contains(m.PeerURLs, peerURL) {
			return m.ID, nil
		}
	}
	return 0, err
}

// promoteMember asks once to make a voter of a learner; a member that is no learner is
// promoted.
func promoteMember(ctx context.Context, client *clientv3.Client, id uint64) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	_, err := client.MemberPromote(ctx, id)
	if errors.Is(err, rpctypes.ErrMemberNotLearner) {
		return nil
	}
	return err
}

// changeTimeout is longer than an election.
const changeTimeout = 4 * time.Second
