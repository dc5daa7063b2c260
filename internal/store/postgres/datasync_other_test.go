//go:build !linux

package postgres

import "os"

func datasync(f *os.File) error { return f.Sync() }
