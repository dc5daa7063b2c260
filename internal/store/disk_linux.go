package store

import (
	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/rootfs"
)

func (f osFile) datasync() error { return unix.Fdatasync(int(f.Fd())) }

func (d rooted) syncDir(name string) error { return syncDir(d.root, name) }

func replace(root *rootfs.Root, from, to string) error { return root.Rename(from, to) }
