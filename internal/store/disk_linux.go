package store

import (
	"os"

	"golang.org/x/sys/unix"
)

func (f osFile) datasync() error { return unix.Fdatasync(int(f.Fd())) }

func (d rooted) syncDir(name string) error { return syncDir(d.root, name) }

func replace(root *os.Root, from, to string) error { return root.Rename(from, to) }
