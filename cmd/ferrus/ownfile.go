package main

import (
	"io/fs"
	"os"

	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// readOwn reads a file below .ferrus that may have max bytes. No link on the way from there is followed.
func readOwn(path string, max int64) ([]byte, error) {
	r, name, err := rootfs.For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadFile(name, max)
}

// openOwn opens a file below .ferrus for reading, as readOwn does.
func openOwn(path string) (*os.File, error) {
	r, name, err := rootfs.For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Open(name)
}

// listOwn returns what is in a folder below .ferrus, sorted by name.
func listOwn(path string) ([]fs.DirEntry, error) {
	r, name, err := rootfs.For(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadDir(name)
}
