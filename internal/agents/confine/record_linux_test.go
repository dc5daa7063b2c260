package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// TestTheRecordOfARunIsReadAgain with more submodules than anybody has; one that could not be read is not written.
func TestTheRecordOfARunIsReadAgain(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	f := Of(filepath.Join(work, ".ferrus"))
	if err := os.Mkdir(filepath.Join(work, ".ferrus"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.make(); err != nil {
		t.Fatal(err)
	}
	was := run{Link: Link{Work: work, Guest: f.Git()}, Mounted: true}
	for n := range 5000 {
		was.Submodules = append(was.Submodules, Submodule{Path: fmt.Sprint("vendor/module-", n), Text: fmt.Sprint("gitdir: ../../.git/modules/vendor/module-", n, "\n")})
	}
	if err := f.write(record, was); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Restore(); err != nil || f.Entered() {
		t.Errorf("entered %v, %v", f.Entered(), err)
	}
	was.Submodules[0].Text = strings.Repeat("x", maxRecord)
	if err := f.write(record, was); !errors.Is(err, rootfs.ErrUnreadable) || f.Entered() {
		t.Errorf("entered %v, %v", f.Entered(), err)
	}
}
