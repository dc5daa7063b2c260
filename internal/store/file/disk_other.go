//go:build !linux

package file

import (
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

func (f osFile) datasync() error { return f.Sync() }

// syncDir does nothing on Windows, which has no such call.
func (d rooted) syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return syncDir(d.root, name)
}

// replace renames. On Windows, if an editor or a virus scanner has the target open, it retries for
// a second.
func replace(root *rootfs.Root, from, to string) error {
	for try := 0; ; try++ {
		err := root.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || try == 20 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// exchange is of use only on ext4.
func exchange(*os.File, string, string) error { return errors.ErrUnsupported }
