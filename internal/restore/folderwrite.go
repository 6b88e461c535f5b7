package restore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// replace writes a file whole or not at all.
func (f *Folder) replace(dir, name string, data []byte) error {
	return f.copy(dir, name, bytes.NewReader(data))
}

func (f *Folder) copy(dir, name string, r io.Reader) error {
	name = filepath.Base(name)
	if err := f.write(dir, name, r); err != nil {
		return fmt.Errorf("write %s in the restore's folder: %w", name, err)
	}
	return nil
}

func (f *Folder) write(dir, name string, r io.Reader) error {
	file, err := os.CreateTemp(dir, "."+name+"-") // mode 0600
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	if err == nil {
		err = f.sync(file)
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return f.syncDir(dir)
}

func (f *Folder) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.sync(d), d.Close())
}

// empty removes what is in a folder, which may be a mount that cannot be removed.
func (f *Folder) empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != fileMarker {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	errs = append(errs, f.syncDir(dir))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, fileMarker)); err != nil {
		return err
	}
	return f.syncDir(dir)
}
