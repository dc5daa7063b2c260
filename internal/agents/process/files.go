package process

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// logsDir is the folder of logs beside the folder of a list of runs.
const logsDir = "logs"

// checked returns the path of a file, after verifying that no part of it below its root is a link,
// and that the file, if it exists, is a regular one.
func checked(path string) (string, error) {
	r, name, err := rootfs.For(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return r.Path(name)
}

// readFile reads a regular file of at most max bytes.
func readFile(path string, max int64) ([]byte, error) {
	r, name, err := rootfs.For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadFile(name, max)
}

// LogInfo describes the log of the run. The error is fs.ErrNotExist if there is none. A link or a
// FIFO in its place is an error, too.
func (r Run) LogInfo() (fs.FileInfo, error) {
	root, name, err := rootfs.For(r.Log)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", r.Log, rootfs.ErrNotRegular)
	}
	return info, err
}

// createLog creates a new log, and its folder.
func createLog(file string) (*os.File, error) {
	r, name, err := rootfs.For(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := within(r, path.Dir(name)); err != nil {
		return nil, err
	}
	return r.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
}

// writeFiles writes the files of a launch, below the root of the slot. It replaces links.
func (o sealed) writeFiles(files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	dir, _ := rootfs.Split(string(o.Slot))
	r, err := rootfs.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	for file, text := range files {
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if err := r.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := r.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
