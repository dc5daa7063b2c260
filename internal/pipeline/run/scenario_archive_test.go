//go:build unix

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// abroad lets the archive be on another disk.
func abroad(_ *rootfs.Root, old, new string) error {
	return &os.LinkError{Op: "rename", Old: old, New: new, Err: syscall.EXDEV}
}

// filler is how much more lies in a run's folder, so that it takes a while to copy it.
const filler = 100

// cluttered is a run whose result is all that is missing.
func (y *yard) cluttered() *Folder {
	y.t.Helper()
	y.conf.Deliver = toMail
	y.play("end", gated)
	f := y.launch(pair)
	y.tick(f)
	y.gone(f, "one", "two")
	y.tick(f)
	for n := range filler {
		must(y.t, os.WriteFile(f.Path(logsDir, fmt.Sprintf("more-%d", n)), []byte(strings.Repeat("x", 4096)), 0o600))
	}
	y.put("go-end", "")
	y.gone(f, "end")
	return f
}

// archived demands that the run lies whole in the archive, and nothing of it elsewhere.
func (y *yard) archived(f *Folder, name string) {
	y.t.Helper()
	f.Dir = filepath.Join(y.place().Archive, name)
	more, _ := filepath.Glob(f.Path(logsDir, "more-*"))
	s := y.status(f)
	if len(more) != filler || !s.ResultDelivered || s.State != pipeline.IsCompleted || y.mails() != 1 {
		y.t.Errorf("%d of %d files, %+v, sent %d times", len(more), filler, s, y.mails())
	}
	y.whole(f)
	if names, err := y.place().Names(); err != nil || len(names) > 0 {
		y.t.Errorf("under way are still %v: %v", names, err)
	}
	if names, err := y.place().Archived(); err != nil || len(names) != 1 || names[0] != name {
		y.t.Errorf("archived are %v: %v", names, err)
	}
}

// TestAnArchiveElsewhere: on another disk, or where the name is taken. F34.
func TestAnArchiveElsewhere(t *testing.T) {
	t.Parallel()
	rig(t, 4, "archives on this disk and another, with the name free and taken", func(t *testing.T, n int) {
		y := newYard(t)
		f := y.cluttered()
		name := f.Name()
		if n%2 == 1 {
			y.o.Mover.Rename = abroad
		}
		if n >= 2 {
			y.put(filepath.Join(".ferrus/memory/pipelines", name, "mine"), "x")
			name += "-2"
		}
		y.ended(f, y.conduct(f))
		y.archived(f, name)
		if there := strings.TrimSuffix(name, "-2"); n >= 2 && y.text(filepath.Join(".ferrus/memory/pipelines", there, "mine")) != "x" {
			t.Error("what was there is gone")
		}
		if left, _ := os.ReadDir(y.place().Tmp); len(left) > 0 {
			t.Errorf("left in %s: %v", y.place().Tmp, left)
		}
	})
}

// moving conducts a run to an archive on another disk, and is killed as soon as there is a file, or with "!" before its
// name as soon as there is none; when it is done at the latest.
func moving() int {
	var e errand
	if err := json.Unmarshal([]byte(os.Getenv("FERRUS_TEST_ERRAND")), &e); err != nil {
		return 2
	}
	elsewhere := func(root *rootfs.Root, old, new string) error {
		go func() {
			for {
				path, gone := strings.CutPrefix(e.Point, "!")
				if _, err := os.Lstat(path); (err != nil) == gone {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
			}
		}()
		return abroad(root, old, new)
	}
	f, err := Open(e.Dir)
	if err != nil {
		return 3
	}
	if _, err := f.Conduct(context.Background(), Options{Ferrus: "/bin/false", Environ: os.Environ(), Mover: atomicfile.Mover{Rename: elsewhere}}); err != nil {
		return 4
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it was too quick
	return 5
}

// TestAMoveThatIsKilledIsDoneAgain: in the middle of the copy, and in the middle of removing what was copied. F34.
func TestAMoveThatIsKilledIsDoneAgain(t *testing.T) {
	rig(t, rounds(3, 200), "moves to another disk that were killed", func(t *testing.T, n int) {
		y := newYard(t)
		f := y.cluttered()
		name := f.Name()
		archive := y.place().Archive
		when := []string{filepath.Join(archive, "."+name+".part", logsDir), filepath.Join(archive, name), "!" + f.Path(journalFile)}[n%3]
		if err := y.process("mover", errand{Dir: f.Dir, Point: when}).Wait(); err == nil {
			t.Fatal("it was not killed")
		}
		names, err := y.place().Names()
		must(t, err)
		if len(names) == 1 {
			y.ended(f, y.conduct(f))
		}
		y.archived(f, name)
		next := y.launch(pair) // with it goes what the removal has left
		if left, _ := os.ReadDir(y.place().Tmp); len(left) != 1 {
			t.Errorf("left beside %s: %v", next.Name(), left)
		}
	})
}

// TestATickInTheArchiveLeavesItAlone: whatever is done about a run that is over, it stays where it is. F12, F16.
func TestATickInTheArchiveLeavesItAlone(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	f := y.cluttered()
	y.ended(f, y.conduct(f))
	name := f.Name()
	for range 3 {
		if a := y.tick(y.again(f)); a.Do != pipeline.Archive {
			t.Error(a)
		}
	}
	must(t, os.WriteFile(f.Path("one.md"), []byte("too late"), 0o600))
	y.tick(y.again(f))
	y.archived(f, name)
	t.Log("rig: cases=4 bad=0; ticks of a run that is over")
}
