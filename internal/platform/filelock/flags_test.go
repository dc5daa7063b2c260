//go:build unix

package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestALinkIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "lock"), filepath.Join(dir, "elsewhere")
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{false, true} {
		if got, err := Held(path); got || err == nil {
			t.Errorf("held: %v, %v", got, err)
		}
		if err := Wait(path); err == nil {
			t.Error("it was waited for")
		}
		if lock, err := Take(path); err == nil {
			t.Error("it was taken")
			_ = lock.Close()
		}
		if _, err := os.Lstat(elsewhere); !there && err == nil {
			t.Error("its target was made")
		}
		if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestANamedPipeBlocksNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	for _, lay := range []func() error{
		func() error { return nil },
		func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		func() error { return errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)) },
	} {
		if err := lay(); err != nil {
			t.Fatal(err)
		}
		got, err := Held(path)
		_, taken := Take(path)
		for _, err := range []error{err, taken, Wait(path)} {
			if got || err == nil || !strings.HasPrefix(err.Error(), path+" is ") {
				t.Errorf("%v, %v", got, err)
			}
		}
	}
}

func TestALockFileIsTheUsersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A user who may not write it may still look. Root may do both.
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	held(t, path, true)
}
