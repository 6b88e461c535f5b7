package wrap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const written = `data-dir: /var/lib/0.0.0.0
listen-client-urls: https://0.0.0.0:2379,http://127.0.0.1:2379
listen-peer-urls: https://0.0.0.0:2380
`

const wantMoved = `data-dir: /var/lib/0.0.0.0
listen-client-urls: https://127.77.4.2:2379,http://127.0.0.1:2379
listen-peer-urls: https://127.77.4.2:2380
`

func TestMove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etcd.yaml")
	if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(filepath.Dir(path), ".etcd.yaml.moved")
	for _, c := range []struct {
		name       string
		args, want []string
	}{
		{"no file", []string{"etcd", "--name=a"}, []string{"etcd", "--name=a"}},
		{"in one argument", []string{"etcd", "--config-file=" + path}, []string{"etcd", "--config-file=" + moved}},
		{"in two", []string{"etcd", "--config-file", path}, []string{"etcd", "--config-file", moved}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := move(c.args, "127.77.4.2")
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
	content, err := os.ReadFile(moved)
	if err != nil || string(content) != wantMoved {
		t.Errorf("the moved file is %q, %v; want %q", content, err, wantMoved)
	}
	if _, err := move([]string{"etcd", "--config-file=" + path + ".none"}, "127.77.4.2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
}
