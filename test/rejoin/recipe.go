package main

import (
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

// recipe reads the member's ID by reading the whole log.
func recipe(dir string) error {
	w, err := wal.OpenForRead(zap.NewNop(), dir, &walpb.Snapshot{})
	if err != nil {
		return fmt.Errorf("open the WAL: %w", err)
	}
	data, _, _, err := w.ReadAll()
	if err != nil {
		return fmt.Errorf("read the WAL: %w", err)
	}
	var metadata etcdserverpb.Metadata
	if err := proto.Unmarshal(data, &metadata); err != nil {
		return fmt.Errorf("read the metadata: %w", err)
	}
	if metadata.GetNodeID() != memberID {
		return fmt.Errorf("the WAL is of member %x", metadata.GetNodeID())
	}
	return nil
}
