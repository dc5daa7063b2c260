//go:build linux || darwin

package restore_test

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
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/test/kit"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// An editor changes one file in its way. begin is what it does before the Restore starts, at is the save.
type editor struct {
	name  string
	begin func(t testing.TB, path string) any
	save  func(t testing.TB, path, text string, had any)
	bare  bool // there is no file before
	none  bool // the save leaves no text
	stops bool // the Restore cannot go on
}

func opened(t testing.TB, path string) any {
	f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func mapped(t testing.TB, path string) any {
	f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer f.Close()
	page := must(syscall.Mmap(int(f.Fd()), 0, 64, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))(t)
	t.Cleanup(func() { _ = syscall.Munmap(page) })
	return page
}

func throughFile(t testing.TB, _, text string, had any) {
	f := had.(*os.File)
	if err := errors.Join(f.Truncate(0), second(f.WriteAt([]byte(text), 0))); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

var editors = []editor{
	{name: "renames", bare: true, save: func(t testing.TB, path, text string, _ any) {
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil && os.WriteFile(path+".part", []byte(text), 0o644) == nil {
			if err := os.Rename(path+".part", path); err != nil {
				t.Error(err)
			}
		}
	}},
	{name: "writes", bare: true, save: func(t testing.TB, path, text string, _ any) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Error(err)
		}
	}},
	{name: "had it open", begin: opened, save: throughFile},
	{name: "had it mapped", begin: mapped, save: func(_ testing.TB, _, text string, had any) { copy(had.([]byte), text) }},
	{name: "deletes", none: true, save: func(t testing.TB, path, _ string, _ any) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}},
	{name: "links", bare: true, save: func(t testing.TB, path, text string, _ any) {
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.Remove(path)
		if err := os.Symlink(text, path); err != nil {
			t.Error(err)
		}
	}},
	{name: "makes a folder", bare: true, stops: true, save: func(t testing.TB, path, text string, _ any) {
		os.Remove(path)
		write(t, path, "inside", text)
	}},
}

// arena is a repository whose work tree is to go from one tree to another: for each editor a file that is replaced, one
// that is removed with its folder, and one that is made.
func arena(t testing.TB) (dir, from, to string) {
	t.Helper()
	padding := strings.Repeat(" ", 64)
	dir = copied(t, "arena", func(dir string) {
		runGit(t, dir, "init", "-q", "-b", "main", "--template=")
		tree := openWork(t, dir)
		for i := range editors {
			write(t, dir, fmt.Sprintf("replaced-%d", i), "then"+padding)
			write(t, dir, fmt.Sprintf("made-%d", i), "then"+padding)
		}
		write(t, dir, "stays", "stays")
		save(t, tree.Tree, "t/1")
		for i := range editors {
			write(t, dir, fmt.Sprintf("replaced-%d", i), "now"+padding)
			remove(t, dir, fmt.Sprintf("made-%d", i))
			write(t, dir, fmt.Sprintf("going-%d/removed", i), "now"+padding)
		}
		save(t, tree.Tree, "t/2")
	})
	tree := openWork(t, dir)
	return dir, must(tree.ReadRef(t.Context(), "t/2"))(t), must(tree.ReadRef(t.Context(), "t/1"))(t)
}

// TestNoEditIsLost: another program saves a file in any way at any step of a Restore that replaces, removes or makes it,
// finds the edit on disk or by the command that the Restore names.
func TestNoEditIsLost(t *testing.T) {
	t.Parallel()
	other := otherDisk(t)
	cases, bad := 0, 0
	for _, world := range []struct {
		name             string
		noExchange, away bool
		noLease          bool
		usual            []int // the phases without -full
	}{
		{name: "exchange", usual: []int{1, 2, 3, 4}},
		{name: "no exchange", noExchange: true, usual: []int{2}},
		{name: "another disk", away: true, usual: []int{2}},
		{name: "another disk, no exchange", away: true, noExchange: true, usual: []int{1}},
		{name: "no leases", noLease: true, usual: []int{5}},
	} {
		if world.away && other == "" {
			continue
		}
		for phase := 1; phase <= 5; phase++ {
			for _, stops := range []bool{false, true} {
				usual := slices.Contains(world.usual, phase) && (!stops || phase == 2 && world.name == "exchange")
				if stops && phase > 2 || !usual && !kit.Full() { // a folder is beside the point when the file is there
					continue
				}
				cases++
				if !t.Run(fmt.Sprintf("%s, step %d, stops %v", world.name, phase, stops), func(t *testing.T) {
					dir, from, to := arena(t)
					private := filepath.Join(dir, ".ferrus", "git")
					if world.away {
						private = filepath.Join(must(os.MkdirTemp(other, "ferrus-test-"))(t), "git")
						t.Cleanup(func() { os.RemoveAll(filepath.Dir(private)) })
					}
					tree := restore.In(must(worktree.Open(t.Context(), dir, private, worktree.Options{}))(t))
					if world.away { // its store has nothing yet
						from = save(t, tree.Tree, "t/2")
					}
					(&saves{T: t, dir: dir, tree: tree, phase: phase, stops: stops}).run(from, to, world.noExchange, world.noLease)
				}) {
					bad++
				}
			}
		}
	}
	t.Logf("rig: cases=%d bad=%d; steps at which %d editors save", cases, bad, len(editors))
}

// otherDisk is a folder on another file system than the tests' own, "" if there is none.
func otherDisk(t testing.TB) string {
	device := func(dir string) (uint64, bool) {
		var st syscall.Stat_t
		err := syscall.Stat(dir, &st)
		return uint64(st.Dev), err == nil
	}
	own, _ := device(t.TempDir())
	for _, dir := range []string{"/dev/shm", "/var/tmp"} {
		if dev, ok := device(dir); ok && dev != own {
			return dir
		}
	}
	return ""
}

// saves is one Restore during which all editors save, each when its own file is at the phase-th step.
type saves struct {
	*testing.T
	dir   string
	tree  *restore.WorkTree
	phase int
	stops bool
	text  map[string]string // by path: what was saved
	named []restore.Edit
}

func (s *saves) run(from, to string, noExchange, noLease bool) {
	s.text = map[string]string{}
	had, count, doers := map[string]any{}, map[string]int{}, map[string]editor{}
	for i, e := range editors {
		if e.stops != s.stops {
			continue
		}
		for _, name := range []string{"replaced-%d", "going-%d/removed", "made-%d"} {
			name = fmt.Sprintf(name, i)
			if strings.HasPrefix(name, "made") && !e.bare {
				continue
			}
			doers[name] = e
			if e.begin != nil {
				had[name] = e.begin(s, filepath.Join(s.dir, name))
			}
		}
	}
	do := func(name string) {
		e, ok := doers[name]
		if !ok || s.text[name] != "" {
			return
		}
		s.text[name] = fmt.Sprintf("edit of %s by one who %s", strings.ReplaceAll(name, "/", "-"), e.name)
		e.save(s, filepath.Join(s.dir, name), s.text[name], had[name])
		if e.none {
			delete(doers, name)
		}
	}
	at := func(name string) {
		count[name]++
		// Without leases nobody knows of a descriptor when the time is up and the file goes.
		late := noLease && had[name] != nil && count[name] > strings.Count(name, "replaced")+2
		if count[name] == s.phase && !late {
			do(name)
		}
	}
	var now func() time.Time
	var pause func(time.Duration)
	clock, paused := time.Unix(1e9, 0), 0
	if noLease {
		now = func() time.Time { return clock }
		pause = func(d time.Duration) {
			clock = clock.Add(d)
			if paused++; d <= 0 || d > restore.Grace {
				s.Errorf("waits for %v", d)
			}
			if s.phase == 5 {
				for name := range doers {
					if had[name] != nil {
						do(name)
					}
				}
			}
		}
	}
	s.tree.Hooked(at, noExchange, now, pause)
	s.restored(from, to)
	if noLease && paused == 0 {
		s.Error("it does not wait for programs that may have a file open")
	}
	if !noLease { // a file that the system does not know of only stays for a while
		for name := range doers {
			if had[name] != nil {
				do(name)
			}
		}
	}
	s.tree.Hooked(nil, false, nil, nil)
	for _, h := range had { // all is closed now
		if f, ok := h.(*os.File); ok {
			f.Close()
		} else {
			_ = syscall.Munmap(h.([]byte))
		}
	}
	last := fingerprint(s, s.tree.Tree)
	s.restored(last, last) // nothing but what is left over
	if left, err := s.tree.Leftovers(); err != nil || len(left) > 0 {
		s.Errorf("left over: %v, %v", left, err)
	}
	s.check(doers)
}

// restore restores until nothing is in the way.
func (s *saves) restored(from, to string) {
	s.Helper()
	for n := 0; ; n++ {
		c, err := s.tree.Restore(s.Context(), from, to, "t/edits")
		s.named = append(s.named, c.Edited...)
		stopped := new(restore.StoppedError)
		if err == nil {
			return
		}
		if !s.stops || !errors.As(err, &stopped) || n > 20 {
			s.Fatal(err)
		}
		from = save(s, s.tree.Tree, fmt.Sprintf("t/again-%d", n))
	}
}

// check looks for every edit.
func (s *saves) check(doers map[string]editor) {
	disk := strings.Join(slices.Collect(maps.Values(manifest(s, s.dir))), "\n")
	snapshots := ""
	if s.stops { // what stopped a Restore is in the snapshot before the next
		for _, commit := range strings.Fields(runGit(s, s.dir, "for-each-ref", "--format=%(objectname)", "refs/ferrus/t")) {
			snapshots += runGit(s, s.dir, "-c", "alias.all=!git archive "+commit+" | cat", "all")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doers)) {
		text := s.text[name]
		if text == "" || strings.Contains(disk, text) || strings.Contains(snapshots, text) {
			continue
		}
		shown := ""
		for _, e := range s.named {
			if e.Path == name && e.Show != "" {
				shown += runGit(s, s.dir, strings.Fields(e.Show)[1:]...)
			}
		}
		if !strings.Contains(shown, text) {
			s.Errorf("%s: %q is lost; named: %v", name, text, s.named)
		}
	}
}

// TestAClearKeepsEdits: what is edited while a work tree is cleared is saved, and what is made meanwhile stays.
func TestAClearKeepsEdits(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := openWork(t, dir)
	from := save(t, tree.Tree, "t/1")
	tree.Hooked(func(name string) {
		if name == "a.txt" {
			write(t, dir, "a.txt", "edit of a.txt")
			write(t, dir, "src/made", "made")
			tree.Hooked(nil, false, nil, nil)
		}
	}, false, nil, nil)
	c := must(tree.Clear(t.Context(), from, "t/edits"))(t)
	if len(c.Edited) != 1 || runGit(t, dir, strings.Fields(c.Edited[0].Show)[1:]...) != "edit of a.txt" {
		t.Errorf("named: %v", c.Edited)
	}
	if got := slices.Sorted(maps.Keys(manifest(t, dir))); !slices.Equal(got, []string{"src/made"}) {
		t.Errorf("on disk: %q", got)
	}
}

// TestAMoveFollowsNoLink: a folder that becomes a link or a repository in the middle of a Restore leads nothing outside.
func TestAMoveFollowsNoLink(t *testing.T) {
	t.Parallel()
	for _, repo := range []bool{false, true} {
		dir, outside := committed(t), t.TempDir()
		write(t, dir, "src/c.go", "package b\n")
		tree := openWork(t, dir)
		to := save(t, tree.Tree, "t/1")
		write(t, dir, "src/b.go", "now")
		write(t, dir, "src/c.go", "now")
		from := save(t, tree.Tree, "t/2")
		tree.Hooked(func(name string) {
			if name != "src/b.go" {
				return
			}
			tree.Hooked(nil, false, nil, nil)
			rename(t, dir, "src", "was")
			if repo {
				embed(t, dir, "src", true)
			} else {
				link(t, outside, filepath.Join(dir, "src"))
			}
		}, false, nil, nil)
		_, err := tree.Restore(t.Context(), from, to, "t/edits")
		if stopped := new(restore.StoppedError); !errors.As(err, &stopped) || stopped.Path != "src/b.go" || !strings.Contains(err.Error(), "no longer a folder") {
			t.Errorf("repository %v: %v", repo, err)
		}
		if left := must(os.ReadDir(outside))(t); len(left) > 0 {
			t.Errorf("written outside: %v", left)
		}
		if _, err := os.Lstat(filepath.Join(dir, "src", "c.go")); err == nil {
			t.Errorf("written into a repository")
		}
	}
}

// TestNoEditIsLostWithAKilledRestore: edits are made at the very step at which the Restore dies. The next one finds them.
func TestNoEditIsLostWithAKilledRestore(t *testing.T) {
	cases, bad := 0, 0
	died := true
	for n := 1; died; n += most(13, 1) {
		cases++
		if !t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir, from, to := arena(t)
			t.Setenv(editing, "1")
			died = die(t, death{N: n}, dir, "restore", from, to)
			tree := openWork(t, dir)
			left := must(tree.Leftovers())(t)
			disk := strings.Join(slices.Collect(maps.Values(manifest(t, dir))), "\n")
			last := fingerprint(t, tree.Tree)
			c := must(tree.Restore(t.Context(), last, last, "t/again"))(t)
			if len(c.Edited) > 0 && len(left) == 0 {
				t.Error("it is not said that there is something to recover")
			}
			if after := must(tree.Leftovers())(t); len(after) > 0 {
				t.Errorf("left over: %v", after)
			}
			if !died { // it has named them itself
				return
			}
			done, _ := os.ReadFile(filepath.Join(dir, ".ferrus", "edited"))
			for name := range strings.Lines(string(done)) {
				name = strings.TrimSuffix(name, "\n")
				shown := disk
				for _, e := range c.Edited {
					if e.Path == name && e.Show != "" {
						shown += runGit(t, dir, strings.Fields(e.Show)[1:]...)
					}
				}
				if !strings.Contains(shown, killedText(name)) {
					t.Errorf("%s is lost; named: %v", name, c.Edited)
				}
			}
		}) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; steps at which a Restore is killed", cases, bad)
}

func killedText(name string) string { return "edit of " + strings.ReplaceAll(name, "/", "-") }

// edit has one editor save one file, and notes it.
func edit(dir string, by int, name string) {
	editors[by].save(nil, filepath.Join(dir, name), killedText(name), nil)
	if f, err := os.OpenFile(filepath.Join(dir, ".ferrus", "edited"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err == nil {
		fmt.Fprintln(f, name)
		f.Close()
	}
}

// edited has files edited in a victim.
func edited(dir string, tree *restore.WorkTree) (atDeath func()) {
	count := map[string]int{}
	tree.Hooked(func(name string) {
		count[name]++
		if count[name] == map[string]int{"replaced-0": 2, "going-0/removed": 1, "made-0": 1}[name] {
			edit(dir, 0, name)
		}
	}, false, nil, nil)
	return func() {
		for i, e := range editors {
			if i > 0 && e.begin == nil && !e.none && !e.stops {
				for _, name := range []string{"replaced-%d", "going-%d/removed", "made-%d"} {
					edit(dir, i, fmt.Sprintf(name, i))
				}
			}
		}
	}
}
