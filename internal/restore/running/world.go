package running

import (
	"io"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

// World is what a job reaches.
type World struct {
	Nodes   restore.Nodes
	Etcd    restore.Etcd
	Store   store.Store // nil without one
	Decrypt func(io.Reader) (io.Reader, error)
	Close   func() error
}

// Open reaches the cluster of a bundle, and the store.
func Open(a Access) (*World, error) {
	s, err := store.NewS3(a.Store)
	if err != nil {
		return nil, err
	}
	return OpenWith(a.Bundle, s)
}

// OpenWith reaches the cluster of a bundle, with a store that is open already; nil for
// none.
func OpenWith(bundle []byte, s store.Store) (*World, error) {
	secrets, err := talos.LoadBundle(bundle)
	if err != nil {
		return nil, err
	}
	key, err := snapshot.DeriveKey(bundle)
	if err != nil {
		return nil, err
	}
	reach := &restore.Talos{Bundle: secrets}
	decrypt := func(r io.Reader) (io.Reader, error) { return snapshot.Open(r, key) }
	return &World{Nodes: reach, Etcd: reach, Store: s, Decrypt: decrypt, Close: reach.Close}, nil
}
