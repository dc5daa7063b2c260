package file

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

func (f osFile) datasync() error { return unix.Fdatasync(int(f.Fd())) }

func (d rooted) syncDir(name string) error { return syncDir(d.root, name) }

func replace(root *rootfs.Root, from, to string) error { return root.Rename(from, to) }

// exchange swaps two files directly in a folder, not in folders below it.
func exchange(dir *os.File, a, b string) error {
	if strings.Contains(a+b, "/") {
		return errors.ErrUnsupported
	}
	return rootfs.Exchange(rootfs.Entry{Dir: dir, Name: a, At: dir.Name()}, rootfs.Entry{Dir: dir, Name: b, At: dir.Name()})
}
