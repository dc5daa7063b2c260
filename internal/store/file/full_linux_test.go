package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// mounted returns a machine on a file system of 256 KiB of its own.
func mounted(t *testing.T) (s *Store, mount string) {
	t.Helper()
	mount = t.TempDir()
	if err := unix.Mount("ferrus", mount, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(mount, unix.MNT_DETACH) })
	s = must2(Create(filepath.Join(mount, ".ferrus"), still()))
	t.Cleanup(func() { s.Close() })
	return s, mount
}

func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	s, mount := mounted(t)
	do(t, s, create, claim)
	var refused int
	for size := 200 << 10; size >= 0; size -= 1 << 10 { // from ever fuller to quite full
		fillUp(t, filepath.Join(mount, "ballast"), size)
		before := view(t, s)
		_, err := apply(on(state.Progress, state.Holder, text(state.ReviewDoc, strings.Repeat("x", 9000))))(s)
		if err != nil {
			wantCode(t, err, refusal.StoreError, "disk is full")
			refused++
		}
		after := view(t, reopen(t, s))
		if grown := after.Task.Seq - before.Task.Seq; err == nil && grown != 1 || err != nil && grown != 0 {
			t.Fatalf("%v: and yet line %d after %d", err, after.Task.Seq, before.Task.Seq)
		}
		if refused > 4 {
			break
		}
		must(0, os.Remove(filepath.Join(mount, "ballast")))
	}
	if refused == 0 {
		t.Fatal("the disk was never full")
	}
	must(0, os.Remove(filepath.Join(mount, "ballast")))
	do(t, s, on(state.Release, state.Human, nil))
	if _, _, err := sound(reopen(t, s)); err != nil {
		t.Errorf("after space was freed: %v", err)
	}
	for _, ev := range events(t, s) {
		if ev == state.Violation {
			t.Error("a full disk was taken for an edit")
		}
	}
}

// fillUp writes a file until the disk is full, and then leaves that much space.
func fillUp(t *testing.T, path string, space int) {
	t.Helper()
	f := must(os.Create(path))
	defer f.Close()
	size := 0
	for {
		n, err := f.Write(make([]byte, 4096))
		if size += n; err != nil {
			break
		}
	}
	must(0, f.Truncate(int64(max(0, size-space))))
}

func TestAReadOnlyFolderCanBeRead(t *testing.T) {
	t.Parallel()
	s, mount := mounted(t)
	want := do(t, s, create, claim)
	s.Close()
	must(0, unix.Mount("", mount, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	again := reopen(t, s)
	if got := view(t, again); got.Journal != want.Journal {
		t.Errorf("it reads line %d", got.Task.Seq)
	}
	_, err := apply(progress)(again)
	wantCode(t, err, refusal.StoreError, "is writable")
	wantCode(t, second(renew(again)), refusal.StoreError)
	must(0, unix.Mount("", mount, "", unix.MS_REMOUNT, "size=256k"))
	do(t, again, progress)
}
