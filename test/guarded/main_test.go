package guarded

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/quorate/quorate/test/etcdcluster"
	"github.com/quorate/quorate/test/product"
)

// What every test runs: the newest etcd, and this tree's quorate-guard.
var (
	release etcdcluster.Release
	binary  string
)

func TestMain(m *testing.M) {
	if err := prepare(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func prepare(ctx context.Context) error {
	releases, err := etcdcluster.Releases(ctx, "3.7", os.Stderr)
	if err != nil {
		return err
	}
	release = releases[0]
	root, err := product.Root(ctx)
	if err != nil {
		return err
	}
	binary, err = product.Build(ctx, root, "quorate-guard")
	return err
}
