// Package rootfstest attacks a package that stores files. It puts links, FIFOs, devices and huge
// files in their place. Then it checks that nothing outside of the project changes, nothing hangs,
// and memory stays bounded.
package rootfstest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A Case is one kind of entry in place of one file or folder of a project.
type Case struct {
	Path  string // below the project
	Entry string // name of the kind of entry
	Dir   string // the project: a folder of its own, with nothing else in it than Attack's setup has made
}

// Attack lays every kind of entry in place of each of the paths, which are below the project and may be files, folders
// or nothing yet, and calls do. What do returns does not matter; it must end soon and in little memory, and nothing
// beside the project may change. What was at the path is moved outside, so that a link that is followed leads to what
// is expected there. Without -full, of more than four paths each has a third of the entries. setup fills the project
// before each case. The log names the number of cases for the rigs.
func Attack(t *testing.T, paths []string, setup func(t *testing.T, dir string), do func(t *testing.T, c Case) error) {
	t.Helper()
	cases, bad := 0, 0
	for i, path := range paths {
		for j, e := range entries {
			if len(paths) > 4 && !kit.Sampled(3, i, j) {
				continue
			}
			cases++
			ok := t.Run(strings.ReplaceAll(path, "/", "-")+"/"+e.name, func(t *testing.T) {
				base, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				c := Case{Path: path, Entry: e.name, Dir: filepath.Join(base, "project")}
				for _, dir := range []string{c.Dir, filepath.Join(base, "outside", "precious")} {
					if err := os.MkdirAll(dir, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				setup(t, c.Dir)
				put(t, e, filepath.Join(c.Dir, filepath.FromSlash(path)), filepath.Join(base, "outside"))
				before := Snapshot(t, base, "project")
				err = Bounded(t, func() error { return do(t, c) })
				if after := Snapshot(t, base, "project"); after != before {
					t.Errorf("outside the project there was\n%sand is\n%s(%v)", before, after, err)
				}
			})
			if !ok {
				bad++
			}
		}
	}
	t.Logf("rig: cases=%d bad=%d; kinds of entries in place of files and folders", cases, bad)
}

// limit is after how long a case is taken to wait for ever, and memory by how much it may make the heap grow.
const (
	limit  = 2 * time.Minute
	memory = 300 << 20
)

// Bounded calls do and returns what it returns. The test ends as failed where do takes too long, and fails where it
// takes too much memory.
func Bounded(t testing.TB, do func() error) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }() // do may end its goroutine
		err = do()
	}()
	select {
	case err := <-done:
		runtime.ReadMemStats(&after)
		if used := after.HeapSys - min(before.HeapSys, after.HeapSys); used > memory {
			t.Errorf("the heap grew by %d MB", used>>20)
		}
		return err
	case <-time.After(limit):
		t.Fatalf("not over in %v", limit)
		return nil
	}
}

// Snapshot describes everything below dir but the folder that is named: names, kinds, modes, sizes, times of change of
// files, and contents.
func Snapshot(t testing.TB, dir, but string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == filepath.Join(dir, but) {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&text, "%s %v", filepath.ToSlash(name), info.Mode())
		if d.Type().IsRegular() {
			fmt.Fprintf(&text, " %d %d", info.Size(), info.ModTime().UnixNano())
			if info.Size() < huge {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(&text, " %x", sha256.Sum256(data))
			}
		}
		text.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}
