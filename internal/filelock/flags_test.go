//go:build unix

package filelock

import (
	"os"
	"path/filepath"
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
	held(t, path, false)
	lock, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	held(t, path, true)
	_ = lock.Close()
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
	// Whoever may not write it may still look. Root may do both.
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	held(t, path, true)
}
