package store

import "github.com/ferrus-go/ferrus/internal/rootfs"

// syncDir makes the names in a folder durable.
func syncDir(root *rootfs.Root, name string) error {
	d, err := root.OpenDir(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
