package tokens

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAPowerCutBringsNoTokenBack: a token that was revoked stays so, one that was shown is good, all others stay.
func TestAPowerCutBringsNoTokenBack(t *testing.T) {
	t.Parallel()
	b := book(t)
	old, _ := made(t, b, state.Executor, "old", never)
	gone, _ := made(t, b, state.Executor, "gone", never)
	done, fresh := 0, ""
	disk := atomicfiletest.Record(t, b.dir, func() string { return fmt.Sprint(done) }, func() {
		if _, err := b.Revoke("gone"); err != nil {
			t.Fatal(err)
		}
		done++
		fresh, _ = made(t, b, state.Supervisor, "new", never)
		done++
	})
	cases, err := disk.Cut(t, true, func(dir, note string) error {
		done, err := strconv.Atoi(note)
		if err != nil {
			return err
		}
		b := Open(dir)
		if _, err := b.List(); err != nil {
			return err
		}
		good := func(secret string) bool { _, err := b.Verify(secret, time.Now()); return err == nil }
		if !good(old) || done >= 1 && good(gone) || done >= 2 && !good(fresh) {
			return fmt.Errorf("after %d calls: old %v, gone %v, new %v", done, good(old), good(gone), good(fresh))
		}
		_, _, err = b.New(state.Executor, "next", never)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("rig: cases=%d bad=0; power cuts of a simulated disk while tokens change", cases)
}
