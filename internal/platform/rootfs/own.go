package rootfs

import (
	"io/fs"
	"os"
)

// ReadOwn reads a file below .ferrus that may have max bytes. No link on the way from there is followed.
func ReadOwn(path string, max int64) ([]byte, error) {
	r, name, err := For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadFile(name, max)
}

// ReadOwnTail reads the last bytes of a file below .ferrus, at most most, as ReadOwn does.
func ReadOwnTail(path string, most int64) ([]byte, error) {
	r, name, err := For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadTail(name, most)
}

// OpenOwn opens a file below .ferrus for reading, as ReadOwn does.
func OpenOwn(path string) (*os.File, error) {
	r, name, err := For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Open(name)
}

// ListOwn returns the entries of a folder below .ferrus, sorted by name, as ReadOwn does.
func ListOwn(path string) ([]fs.DirEntry, error) {
	r, name, err := For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadDir(name)
}

// Exists reports whether there is anything at path. It follows no link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return path != "" && err == nil
}
