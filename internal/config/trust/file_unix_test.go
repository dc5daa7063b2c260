//go:build unix

package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRecordsAreTheUsersAlone(t *testing.T) {
	root, state := place(t)
	p := open(t, root)
	if err := p.Agree(some); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Dir(state), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhatOthersCanWriteIsRefused, for each part of the way, and works again when the remedy has been applied.
func TestWhatOthersCanWriteIsRefused(t *testing.T) {
	root, state := place(t)
	if err := open(t, root).Agree(some); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(state), state, filepath.Join(state, folder), open(t, root).Path()} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, info.Mode().Perm()|0o022); err != nil {
			t.Fatal(err)
		}
		p := open(t, root)
		if _, err := p.Agreed(some); err == nil {
			t.Errorf("%s: believed", path)
		}
		if err := p.Agree(some); err == nil {
			t.Errorf("%s: written", path)
		}
		if err := os.Chmod(path, info.Mode()); err != nil {
			t.Fatal(err)
		}
		agreed(t, open(t, root), some, true)
	}
}

func TestAFolderOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	root, state := place(t)
	if err := open(t, root).Agree(some); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{state, open(t, root).Path()} {
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, root).Agreed(some); err == nil || !strings.Contains(err.Error(), "another user (uid 12345") {
			t.Errorf("%s: %v", path, err)
		}
		if err := os.Chown(path, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARecordThatIsNoFileBlocksNobody: a pipe, a device and a link.
func TestARecordThatIsNoFileBlocksNobody(t *testing.T) {
	root, _ := place(t)
	p := open(t, root)
	if err := p.Agree(some); err != nil {
		t.Fatal(err)
	}
	elsewhere := p.Path() + ".elsewhere"
	if err := os.Rename(p.Path(), elsewhere); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func() error{
		"pipe":   func() error { return syscall.Mkfifo(p.Path(), 0o600) },
		"zero":   func() error { return os.Symlink("/dev/zero", p.Path()) },
		"link":   func() error { return os.Symlink(elsewhere, p.Path()) },
		"folder": func() error { return os.Mkdir(p.Path(), 0o700) },
	} {
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Agreed(some); got || err == nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if err := os.Remove(p.Path()); err != nil {
			t.Fatal(err)
		}
	}
}
