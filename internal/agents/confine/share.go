package confine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// maxShared is how much of a log an executor is given, in bytes: the end.
const maxShared = 16 << 20

// Share copies a log into the folder that the executor can read, and returns the path of the copy. While no executor is in a sandbox,
// and for a log that is gone, it returns the path itself.
func (f Folder) Share(path string) (string, error) {
	if !f.Entered() {
		return path, nil
	}
	to, err := rootfs.OpenBelow(f.In(), ".ferrus", 0)
	if err != nil {
		return "", err
	}
	defer to.Close()
	text, err := rootfs.ReadOwnTail(path, maxShared)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	return to.Join(name), to.WriteFile(name, text, 0o600)
}
