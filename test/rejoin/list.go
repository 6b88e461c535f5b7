package main

import (
	"context"
	"fmt"
	"net"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// list answers as a cluster does that has these members, and nothing else: what is
// measured is the agent.
type list struct {
	etcdserverpb.UnimplementedClusterServer
	ids []uint64
}

func (l list) MemberList(context.Context, *etcdserverpb.MemberListRequest) (*etcdserverpb.MemberListResponse, error) {
	out := &etcdserverpb.MemberListResponse{Header: &etcdserverpb.ResponseHeader{ClusterId: clusterID, MemberId: l.ids[0]}}
	for _, id := range l.ids {
		out.Members = append(out.Members, &etcdserverpb.Member{ID: id, Name: nameOf(id), PeerURLs: []string{"http://127.0.0.1:2380"}, ClientURLs: []string{"http://127.0.0.1:2379"}})
	}
	return out, nil
}

func nameOf(id uint64) string {
	if id == memberID {
		return memberName
	}
	return "main-1"
}

// serveList gives the endpoint of a server with these members, and what ends it.
func serveList(ids ...uint64) (endpoint string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve a member list: %w", err)
	}
	server := grpc.NewServer()
	etcdserverpb.RegisterClusterServer(server, list{ids: ids})
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), server.Stop, nil
}
