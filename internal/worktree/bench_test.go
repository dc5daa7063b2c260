package worktree_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A contender is one of several things measured in turn, so that they share the weather on the machine.
type contender struct {
	name   string
	before func() // not measured
	run    func()
	stores []string // folders whose growth in one run is measured
	took   []time.Duration
	grew   []int64
}

// compare runs the contenders in turn, and reports the median of their times, and of what they take on disk.
func compare(b *testing.B, list ...*contender) {
	b.Helper()
	for b.Loop() {
		for _, c := range list {
			c.before()
			had := blocks(b, c.stores)
			began := time.Now()
			c.run()
			c.took = append(c.took, time.Since(began))
			c.grew = append(c.grew, blocks(b, c.stores)-had)
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, c := range list {
		slices.Sort(c.took)
		slices.Sort(c.grew)
		b.ReportMetric(float64(c.took[len(c.took)/2])/float64(time.Microsecond), c.name+"-p50-µs")
		b.ReportMetric(float64(c.grew[len(c.grew)/2]), c.name+"-bytes")
	}
}

// blocks is what files take on a disk of 4 KiB blocks.
func blocks(b *testing.B, dirs []string) (n int64) {
	b.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil // a folder that is not there yet
			}
			info, err := e.Info()
			if err == nil {
				n += (info.Size() + 4095) / 4096 * 4096
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// large is a repository of 50,000 files, of 5,000 with -short, all committed.
func large(b *testing.B, commit bool) string {
	b.Helper()
	dir, files := repository(b), 50_000
	runGit(b, dir, "config", "gc.auto", "0")
	if testing.Short() {
		files = 5_000
	}
	for i := range files {
		write(b, dir, fmt.Sprintf("d%02d/e%02d/f%05d.go", i%50, i/50%40, i), fmt.Sprintf("package d // %d\n%s", i, strings.Repeat("a line of it\n", 30)))
	}
	write(b, dir, ".gitignore", "*.o\n/build/\n/.ferrus/\n")
	if commit {
		runGit(b, dir, "add", ".")
		runGit(b, dir, "commit", "-qm", "one")
		runGit(b, dir, "gc", "-q")
	}
	return dir
}

// add is the least that git takes to make a tree of the work tree: what is new into a private copy of an index, and that
// written. It does not keep it: nothing holds its objects.
func add(b *testing.B, dir, index string) {
	b.Helper()
	for _, args := range [][]string{{"add", "-A"}, {"write-tree"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+index)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// BenchmarkSave measures a tree that is taken and kept: the first time, after one edit, and when nothing has changed.
// Beside it, git add and git write-tree on an index that knows the files.
func BenchmarkSave(b *testing.B) {
	dir := large(b, true)
	private := filepath.Join(dir, ".ferrus", "git")
	objects := filepath.Join(dir, ".git", "objects")
	stores := []string{private, objects, filepath.Join(dir, ".git", "refs")}
	n := 0
	edit := func() {
		n++
		write(b, dir, "d00/e00/f00000.go", fmt.Sprintf("package d // edit %d\n", n))
	}
	tree := open(b, dir)
	keep := func() { save(b, tree, fmt.Sprintf("t/%d", n)) }
	keep()
	index := filepath.Join(b.TempDir(), "index")
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Dir(index), "index", string(data))
	add(b, dir, index)
	compare(b,
		&contender{name: "save", stores: stores, before: edit, run: keep},
		&contender{name: "save-unchanged", stores: stores, before: func() { keep(); n++ }, run: keep},
		&contender{name: "fingerprint", stores: stores, before: edit, run: func() { fingerprint(b, tree) }},
		&contender{name: "git-add", stores: []string{objects}, before: edit, run: func() { add(b, dir, index) }},
		&contender{name: "save-first", stores: stores, before: func() {
			edit()
			remove(b, private, "")
			var err error
			if tree, err = worktree.Open(context.Background(), dir, private, worktree.Options{}); err != nil {
				b.Fatal(err)
			}
		}, run: keep})
}

// BenchmarkSaveNew measures the first tree of files that git does not know yet. Beside it, git add and git write-tree on
// no index.
func BenchmarkSaveNew(b *testing.B) {
	dir := large(b, false)
	private := filepath.Join(dir, ".ferrus", "git")
	objects := filepath.Join(dir, ".git", "objects")
	none := func() {
		remove(b, dir, ".ferrus")
		remove(b, dir, ".git")
		runGit(b, dir, "init", "-q")
		runGit(b, dir, "config", "gc.auto", "0")
	}
	index := filepath.Join(b.TempDir(), "index")
	compare(b,
		&contender{name: "save", stores: []string{private, objects}, before: none, run: func() { save(b, open(b, dir), "t/1") }},
		&contender{name: "git-add", stores: []string{objects}, before: func() { none(); os.Remove(index) }, run: func() { add(b, dir, index) }})
}

// BenchmarkRestore measures one edit taken back, and put on again. Beside it, git read-tree and checkout-index on an
// index that knows the files.
func BenchmarkRestore(b *testing.B) {
	dir := large(b, true)
	tree := open(b, dir)
	var ids [2]string
	for i := range ids {
		write(b, dir, "d00/e00/f00000.go", fmt.Sprintf("package d // side %d\n", i))
		ids[i] = save(b, tree, fmt.Sprintf("t/%d", i))
	}
	at := 1
	compare(b,
		&contender{name: "restore", before: func() {}, run: func() {
			restored(b, tree, ids[at], ids[1-at])
			at = 1 - at
		}},
		&contender{name: "git-read-tree", before: func() { runGit(b, dir, "read-tree", "--reset", "-u", ids[at]) }, run: func() {
			runGit(b, dir, "read-tree", "-m", "-u", ids[at], ids[1-at])
			at = 1 - at
		}})
}
