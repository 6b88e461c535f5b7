package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

const (
	sealRole   = "seal"
	verifyRole = "verify"
	objectName = "etcd-20300102T150405Z.snapshot.age"
)

// A bundle with nothing in it but what a key follows from.
const bundle = "cluster: {id: aWQ=, secret: c2VjcmV0}\nsecrets: {secretboxencryptionsecret: Ym94}\n"

// result is what a process of ours prints.
type result struct {
	Seconds float64 `json:"seconds"`
	Peak    float64 `json:"peak"` // MiB
}

// ours starts this program in a role.
func (s *subject) ours(ctx context.Context, role string) (seconds, peak float64, err error) {
	cmd := exec.CommandContext(ctx, s.self, role, s.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("%s in a process of its own: %w", role, err)
	}
	var r result
	if err := json.Unmarshal(out, &r); err != nil {
		return 0, 0, fmt.Errorf("read what %s prints: %w", role, err)
	}
	return r.Seconds, r.Peak, nil
}

// ours is that process.
func ours(ctx context.Context, role, dir string) error {
	key, err := snapshot.DeriveKey([]byte(bundle))
	if err != nil {
		return err
	}
	to, err := store.NewFolder(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	do, known := map[string]func(context.Context, string, store.Store, *snapshot.Key) error{sealRole: seal, verifyRole: verify}[role]
	if !known {
		return fmt.Errorf("there is no role %q", role)
	}
	stop, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- watch(stop) }()
	began := time.Now()
	err = do(ctx, filepath.Join(dir, plainName), to, key)
	took := time.Since(began)
	close(stop)
	most := <-peak
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result{Seconds: took.Seconds(), Peak: float64(most) / (1 << 20)})
}

// seal encrypts into the store, as a backup does.
func seal(ctx context.Context, path string, to store.Store, key *snapshot.Key) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, w := io.Pipe()
	sealed := make(chan error, 1)
	go func() {
		_, err := snapshot.Seal(w, file, key)
		sealed <- errors.Join(err, w.CloseWithError(err))
	}()
	_, err = to.Put(ctx, objectName, r)
	return errors.Join(err, r.CloseWithError(err), <-sealed)
}

// verify reads it from there and keeps nothing.
func verify(ctx context.Context, _ string, from store.Store, key *snapshot.Key) (err error) {
	object, _, err := from.Get(ctx, objectName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	_, err = snapshot.Verify(object, key)
	return err
}
