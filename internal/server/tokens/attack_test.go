package tokens

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestNoEntryLetsAnybodyIn lays links, FIFOs and huge files in place of the tokens: nothing outside is written, and a
// file that is good where it lies outside lets nobody in.
func TestNoEntryLetsAnybodyIn(t *testing.T) {
	t.Parallel()
	var secret string
	setup := func(t *testing.T, dir string) {
		home := filepath.Join(dir, ".ferrus")
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if secret, _, err = Open(home).New(state.Executor, "old", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	rootfstest.Attack(t, []string{".ferrus", ".ferrus/tokens.json", ".ferrus/tokens.lock"}, setup, func(t *testing.T, c rootfstest.Case) error {
		b := Open(filepath.Join(c.Dir, ".ferrus"))
		b.wait = time.Minute
		_, err := b.Verify(secret, time.Now())
		if replaced := c.Path == ".ferrus" || c.Path == ".ferrus/tokens.json"; (err == nil) == replaced {
			t.Errorf("%s as a %s lets the old token in: %v", c.Path, c.Entry, err)
		}
		_, _, err2 := b.New(state.Executor, "new", time.Time{})
		_, err3 := b.List()
		return errors.Join(err, err2, err3)
	})
}

// TestTheTokensOfAnotherUserLetNobodyIn, where this user can read them all the same.
func TestTheTokensOfAnotherUserLetNobodyIn(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can read what is another user's alone")
	}
	b := Open(t.TempDir())
	secret, _, err := b.New(state.Executor, "ci", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Verify(secret, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(b.path(fileName), 65534, -1); err != nil {
		t.Skip(err)
	}
	if _, err := b.Verify(secret, time.Now()); !errors.Is(err, ErrUnsafe) {
		t.Errorf("they let somebody in: %v", err)
	}
}
