package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/test/kit"
)

// Content changes, while size and modification time stay: what git's index takes for no change.
var tricks = []struct {
	name string
	// begin prepares a write before the file is read for the first time; the write then puts text of the same size.
	begin func(t *testing.T, path string) (write func(text string))
}{
	{"written in place", func(t *testing.T, path string) func(string) {
		return func(text string) { overwrite(t, path, text) }
	}},
	{"replaced", func(t *testing.T, path string) func(string) {
		return func(text string) {
			noError(t, os.WriteFile(path+"~", []byte(text), 0o644))
			noError(t, os.Rename(path+"~", path))
		}
	}},
	{"exchanged", func(t *testing.T, path string) func(string) {
		return func(text string) {
			other := filepath.Join(filepath.Dir(path), "..", "x") // made before, so that its own times are old
			if os.WriteFile(other, []byte(text), 0o644) != nil || unix.Renameat2(unix.AT_FDCWD, other, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE) != nil {
				overwrite(t, path, text)
			}
		}
	}},
	{"stored through a mapping", func(t *testing.T, path string) func(string) {
		return func(text string) { copy(inMemory(t, path), text) }
	}},
	{"stored through a mapping that was made and written before", func(t *testing.T, path string) func(string) {
		page := inMemory(t, path)
		copy(page, string(page[:1])) // the page is dirty when the file is first read
		return func(text string) { copy(page, text) }
	}},
}

// hiding are settings by which git looks away.
var hiding = map[string][]string{
	"default":      {},
	"trustctime":   {"core.trustctime=false"},
	"checkStat":    {"core.checkStat=minimal", "core.trustctime=false"},
	"ignoreStat":   {"core.ignoreStat=true"},
	"fsmonitor":    {"core.fsmonitor=true", "core.fsmonitorHookVersion=2"},
	"untracked":    {"core.untrackedCache=true", "feature.manyFiles=true"},
	"splitIndex":   {"core.splitIndex=true", "splitIndex.maxPercentChange=100"},
	"all together": {"core.trustctime=false", "core.checkStat=minimal", "core.ignoreStat=true", "core.untrackedCache=true", "core.splitIndex=true", "core.fileMode=false"},
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	noError(t, err)
	_, err = f.WriteString(text)
	noError(t, err)
	noError(t, f.Close())
}

func inMemory(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	noError(t, err)
	defer f.Close()
	page, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	noError(t, err)
	t.Cleanup(func() { _ = unix.Munmap(page) })
	return page
}

// disks are folders on file systems of different kinds, by kind.
func disks(t testing.TB) map[string]string {
	found := map[string]string{}
	for _, dir := range []string{os.TempDir(), "/var/tmp", "/tmp", "/dev/shm"} {
		var is unix.Statfs_t
		if unix.Statfs(dir, &is) != nil {
			continue
		}
		kind := map[int64]string{unix.EXT4_SUPER_MAGIC: "ext4", unix.TMPFS_MAGIC: "tmpfs"}[int64(is.Type)]
		if kind == "" {
			kind = fmt.Sprintf("%#x", is.Type)
		}
		if found[kind] != "" {
			continue
		}
		if made, err := os.MkdirTemp(dir, "ferrus-test-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(made) })
			found[kind] = made
		}
	}
	return found
}

// dated is a folder on a file system that dates every change.
func dated(t testing.TB) string {
	for _, dir := range disks(t) {
		if filestat.Dated(dir) {
			return dir
		}
	}
	t.Skip("no file system that dates every change")
	return ""
}

// tickOver returns when the file system's clock has moved on from the file's times: what is written then gets others.
func tickOver(t testing.TB, path string) {
	t.Helper()
	var is, probe unix.Stat_t
	noError(t, unix.Lstat(path, &is))
	for name := path + ".probe"; ; {
		noError(t, os.WriteFile(name, nil, 0o644))
		noError(t, unix.Lstat(name, &probe))
		noError(t, os.Remove(name))
		if probe.Ctim.Nano() > is.Ctim.Nano() {
			return
		}
	}
}

// ahead is a clock by which every file is old enough to be known again.
func ahead() time.Time { return time.Now().Add(time.Hour) }

// The usual form takes each setting with one trick; with -full each trick is tried seven times with each setting.
func TestAChangeThatKeepsSizeAndTimeIsNoticed(t *testing.T) {
	t.Parallel()
	rounds, attempts, through, seen := most(1, 7), 0, 0, map[string]int{}
	known := disks(t)
	for disk, on := range known {
		dir := filepath.Join(on, "r")
		noError(t, os.CopyFS(dir, os.DirFS(committed(t))))
		tree := open(t, dir)
		tree.Clock(ahead)
		for i, setting := range sortedKeys(hiding) {
			for j, trick := range tricks {
				if !kit.Full() && i%len(tricks) != j { // each setting with one trick, each trick with a setting
					continue
				}
				for range rounds {
					t.Run(disk+"/"+setting+"/"+trick.name, func(t *testing.T) {
						for _, s := range hiding[setting] {
							key, value, _ := strings.Cut(s, "=")
							runGit(t, dir, "config", key, value)
						}
						runGit(t, dir, "add", "a.txt")
						path := filepath.Join(dir, "a.txt")
						tickOver(t, path)
						put := trick.begin(t, path)
						was, err := os.ReadFile(path)
						noError(t, err)
						before := fingerprint(t, tree)
						if again := fingerprint(t, tree); again != before {
							t.Fatalf("an unchanged tree: %s, then %s", before, again)
						}
						seen[disk] = max(seen[disk], tree.Known())
						tickOver(t, path)
						var is unix.Stat_t
						noError(t, unix.Lstat(path, &is))
						text := "x\n"
						if string(was) == text {
							text = "a\n"
						}
						put(text)
						var now unix.Stat_t
						noError(t, unix.Lstat(path, &now))
						if now.Mtim != is.Mtim { // to set it back moves the change time, where a mapping has moved neither
							noError(t, unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{is.Atim, is.Mtim}, 0))
						}
						attempts++
						after := fingerprint(t, tree)
						if want := fresh(t, dir); after == before || after != want {
							through++
							t.Errorf("through: %s, then %s, of which %s is right", before, after, want)
						}
					})
				}
			}
		}
	}
	t.Logf("rig: cases=%d bad=%d; files known again: %v", attempts, through, seen)
	for disk, n := range seen {
		if is := filestat.Dated(known[disk]); is && n < 3 || !is && n > 0 {
			t.Errorf("%s: %d files are known again", disk, n)
		}
	}
}

func sortedKeys(m map[string][]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	for i := range keys {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

// A file that was written a moment ago may be written again without a trace in its times.
func TestAYoungFileIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dated(t), "r")
	noError(t, os.CopyFS(dir, os.DirFS(committed(t))))
	tree := open(t, dir)
	tree.Clock(func() time.Time { return time.Now().Add(-time.Hour) })
	fingerprint(t, tree)
	n := tree.Known()
	t.Logf("rig: cases=3 bad=%d", n)
	if n != 0 {
		t.Errorf("%d young files are known again", n)
	}
}

// The table saves time and nothing else.
func TestADamagedTableIsRebuilt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dated(t), "r")
	noError(t, os.CopyFS(dir, os.DirFS(committed(t))))
	for i := range 30 {
		write(t, dir, fmt.Sprintf("n/%d", i), fmt.Sprint(i))
	}
	first := open(t, dir)
	first.Clock(ahead)
	want := fingerprint(t, first)
	tables, _ := filepath.Glob(filepath.Join(dir, ".ferrus/git/stat-*"))
	if len(tables) != 1 {
		t.Fatalf("tables: %q", tables)
	}
	whole, err := os.ReadFile(tables[0])
	noError(t, err)
	flipped := append([]byte(nil), whole...)
	flipped[len(flipped)/2] ^= 0x40
	for name, garbage := range map[string][]byte{"empty": {}, "text": []byte("garbage"), "torn": whole[:len(whole)/2], "flipped": flipped,
		"longer": append(whole[:len(whole):len(whole)], 'x'), "whole": whole} {
		noError(t, os.WriteFile(tables[0], garbage, 0o600))
		tree := open(t, dir)
		tree.Clock(ahead)
		if got := fingerprint(t, tree); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if now, _ := os.ReadFile(tables[0]); len(now) != len(whole) {
			t.Errorf("%s: still damaged", name)
		}
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
