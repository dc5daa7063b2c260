package run

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/test/kit"
)

// small puts the runs of a yard on a small disk of their own.
func (y *yard) small() {
	y.t.Helper()
	dir := y.place().Tmp
	must(y.t, os.MkdirAll(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); errors.Is(err, syscall.EPERM) {
		y.t.Skip("it may not mount a disk")
	} else {
		must(y.t, err)
	}
	y.t.Cleanup(func() {
		y.clear()
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	})
}

// fill leaves no space on the small disk, and returns a function that frees it again.
func (y *yard) fill() (empty func()) {
	y.t.Helper()
	path := filepath.Join(y.place().Tmp, "full")
	file, err := os.Create(path)
	must(y.t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if must(y.t, file.Close()); !errors.Is(err, syscall.ENOSPC) {
		y.t.Fatal(err)
	}
	return func() {
		must(y.t, os.Truncate(path, 0)) // a process that is just being started may have it open for a moment
		must(y.t, os.Remove(path))
	}
}

// crammed is pair, whose workers are started again when there was no space for what they write.
var crammed = strings.ReplaceAll(pair, `"task"`, `"retries": 5, "task"`)

// TestAFullDiskHalvesNothing: there is no space any more at one of the points of a run. The tick says so, what stood there
// is whole, and when there is space the run ends as if nothing had been. F18.
func TestAFullDiskHalvesNothing(t *testing.T) {
	t.Parallel()
	points := map[string]int{}
	t.Run("with space", func(t *testing.T) {
		y := newYard(t)
		y.small()
		y.conf.Deliver = toBox
		y.o.At = func(point string) { points[point]++ }
		y.finish(y.launch(crammed))
	})
	if len(points) == 0 {
		t.Skip("it may not mount a disk")
	}
	cases, bad, refused := 0, 0, 0
	for i, point := range slices.Sorted(maps.Keys(points)) {
		if !kit.Every(3, i) {
			continue
		}
		often := points[point]
		if !kit.Full() {
			often = 1
		}
		for n := range often {
			cases++
			if !t.Run(fmt.Sprintf("%s %d", point, n+1), func(t *testing.T) { refused += cram(t, point, n+1) }) {
				bad++
			}
		}
	}
	if refused < cases/3 {
		t.Errorf("only %d of %d disks were too full for anything", refused, cases)
	}
	t.Logf("rig: cases=%d bad=%d; points at which the disk was full, and %d ticks that said so", cases, bad, refused)
}

// cram plays a run whose disk is full from a point to the end of the tick, and returns how many ticks failed for it.
func cram(t *testing.T, point string, n int) (refused int) {
	y := newYard(t)
	y.small()
	y.conf.Deliver = toBox
	f := y.launch(crammed)
	empty := func() {}
	y.o.At = func(p string) {
		if p != point {
			return
		}
		if n--; n == 0 {
			empty = y.fill()
		}
	}
	for {
		a, err := f.Tick(t.Context(), y.o)
		if err != nil {
			refused++
			if _, gone := os.Stat(f.Dir); !errors.Is(gone, fs.ErrNotExist) {
				y.whole(f)
			}
		}
		empty()
		empty = func() {}
		if err == nil && a.Do == pipeline.Archive {
			y.ended(f, a)
			break
		}
		if refused > 3 || a.Person {
			t.Fatalf("%s: %v\n%s", a, err, y.story(f))
		}
		y.gone(f, f.alive()...)
	}
	for _, role := range []string{"one", "two", "end"} {
		for _, path := range []string{f.Path(role + ".md"), f.Path(keptDir, role+".md")} {
			if text, err := os.ReadFile(path); string(text) != role+" was here\n" {
				t.Errorf("%s is %q: %v\n%s", path, text, err, y.story(f))
			}
		}
	}
	if noted := y.lines(f, func(l Line) bool { return l.Event == "noted" }); len(noted) > 0 {
		t.Errorf("somebody else is said to have been it: %+v", noted)
	}
	if box, _ := os.ReadDir(y.path("box")); len(box) != 1 {
		t.Errorf("%d files in the box", len(box))
	}
	return refused
}
