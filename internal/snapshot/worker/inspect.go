package worker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/quorate/quorate/internal/snapshot"
)

// inspect reads what is in a database.
func inspect(path string, size int64, sum string) (snapshot.Inspection, error) {
	found := snapshot.Inspection{Size: size, Sum: sum}
	err := reading(path, func(tx *bolt.Tx) error {
		b := tx.Bucket(keyBucket)
		if b == nil {
			return fmt.Errorf("%w: it is no database of etcd", snapshot.ErrDamaged)
		}
		if err := structure(tx); err != nil {
			return err
		}
		found.Compacted = compacted(tx)
		var err error
		if found.Members, err = members(tx); err != nil {
			return err
		}
		if k, _ := b.Cursor().Last(); k != nil {
			last, err := changeOf(k, nil)
			if err != nil {
				return err
			}
			found.Revision = last.main
		}
		kept := backups{into: &found, secrets: map[string][]*snapshot.BackupSpec{}}
		return alive(b, "", batchSize, func(name string, revision []byte) error {
			found.Keys++
			kept.see(b, name, revision)
			if crd, ours := crdOf(b, name, revision); ours {
				found.CRDs = append(found.CRDs, crd)
			}
			return nil
		})
	})
	return found, err
}

// members are those that the database lists.
func members(tx *bolt.Tx) (all []snapshot.Member, err error) {
	b := tx.Bucket(membersBucket)
	if b == nil {
		return nil, nil
	}
	err = b.ForEach(func(id, v []byte) error {
		// etcd writes its own ID in decimals within, and in hex as the key.
		var m struct {
			Name     string   `json:"name"`
			PeerURLs []string `json:"peerURLs"`
			Learner  bool     `json:"isLearner"`
		}
		if err := json.Unmarshal(v, &m); err != nil {
			return fmt.Errorf("%w: what it has of a member: %w", snapshot.ErrDamaged, err)
		}
		all = append(all, snapshot.Member{ID: string(id), Name: m.Name, PeerURLs: m.PeerURLs, Learner: m.Learner})
		return nil
	})
	slices.SortFunc(all, func(a, b snapshot.Member) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all, err
}
