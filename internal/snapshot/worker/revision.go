package worker

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/quorate/quorate/internal/snapshot"
)

// A key of the bucket "key" is a revision: main, '_', sub, and a 't' behind it if it
// deletes (server/storage/mvcc/revision.go).
const (
	revisionSize  = 8 + 1 + 8
	tombstoneSize = revisionSize + 1
)

// change is what one revision did to one key.
type change struct {
	main    int64
	deletes bool
	name    []byte // of the key; it lives as long as the transaction. Empty is the mark that a reseal leaves
}

func changeOf(k, v []byte) (change, error) {
	if (len(k) != revisionSize && len(k) != tombstoneSize) || k[8] != '_' || (len(k) == tombstoneSize && k[revisionSize] != 't') {
		return change{}, fmt.Errorf("%w: %x is no revision", snapshot.ErrDamaged, k)
	}
	c := change{main: int64(binary.BigEndian.Uint64(k)), deletes: len(k) == tombstoneSize}
	if c.main < 0 {
		return change{}, fmt.Errorf("%w: %x is no revision", snapshot.ErrDamaged, k)
	}
	fields, err := fieldsOf(v)
	if err != nil {
		return change{}, fmt.Errorf("%w: revision %d: %w", snapshot.ErrDamaged, c.main, err)
	}
	if len(v) > 0 && !c.deletes && fields.revision != uint64(c.main) {
		return change{}, fmt.Errorf("%w: revision %d says that it is %d", snapshot.ErrDamaged, c.main, fields.revision)
	}
	c.name = fields.name
	return c, nil
}

// Fields of etcd's KeyValue (api/mvccpb/kv.proto).
const (
	nameField     = 1
	revisionField = 3
	valueField    = 5
)

type fields struct {
	name, value []byte
	revision    uint64
}

// fieldsOf reads a KeyValue without a copy: values are not looked at, so their pages
// are not read.
func fieldsOf(v []byte) (f fields, err error) {
	for len(v) > 0 {
		number, kind, n := protowire.ConsumeTag(v)
		if n < 0 {
			return fields{}, protowire.ParseError(n)
		}
		v = v[n:]
		n = protowire.ConsumeFieldValue(number, kind, v)
		if n < 0 {
			return fields{}, protowire.ParseError(n)
		}
		switch {
		case number == nameField && kind == protowire.BytesType:
			f.name, _ = protowire.ConsumeBytes(v)
		case number == valueField && kind == protowire.BytesType:
			f.value, _ = protowire.ConsumeBytes(v)
		case number == revisionField && kind == protowire.VarintType:
			f.revision, _ = protowire.ConsumeVarint(v)
		}
		v = v[n:]
	}
	if len(f.name) > snapshot.MaxFrame {
		return fields{}, fmt.Errorf("a key of %d bytes", len(f.name))
	}
	return f, nil
}
