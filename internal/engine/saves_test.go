//go:build linux || darwin

package engine_test

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A crowd saves files of a project while ferrus moves them.
type crowd struct {
	*enginetest.Machine
	t    *testing.T
	mu   sync.Mutex
	last map[string]string // by path: what was saved there last
	n    int
}

var ways = []string{"rename", "in place", "open descriptor", "git"}

// save saves a file once in some way.
func (c *crowd) save(way, name string, had *os.File) {
	c.mu.Lock()
	c.n++
	text := fmt.Sprintf("save %d of %s: %s\n", c.n, name, way)
	c.mu.Unlock()
	path := c.Path(name)
	var err error
	switch {
	case way == "open descriptor" && had != nil:
		err = errors.Join(had.Truncate(0), enginetest.Second(had.WriteAt([]byte(text), 0)))
	case way == "rename":
		if err = os.WriteFile(path+".part", []byte(text), 0o644); err == nil {
			err = os.Rename(path+".part", path)
		}
	default:
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) { // its folder is gone, and the editor says so
		c.t.Error(err)
	}
	if err == nil {
		c.mu.Lock()
		c.last[name] = text
		c.mu.Unlock()
	}
}

// moving waits until files are being moved, or all is over.
func (c *crowd) moving(over <-chan struct{}) {
	for {
		plans, _ := filepath.Glob(c.Path(".ferrus/git/move-*/plan"))
		select {
		case <-over:
			return
		default:
		}
		if len(plans) > 0 {
			return
		}
		time.Sleep(100 * time.Microsecond) // of a person's life
	}
}

// during does something while people save: each has files of his own, and a way to save.
func (c *crowd) during(r *rand.Rand, names []string, do func() error) error {
	over := make(chan struct{})
	var people sync.WaitGroup
	for i, way := range ways[:3] {
		var own []string
		for j := i; j < len(names); j += 3 {
			own = append(own, names[j])
		}
		seed := r.Uint64()
		people.Go(func() {
			r := rand.New(rand.NewPCG(seed, 2))
			name := own[r.IntN(len(own))]
			had, _ := os.OpenFile(c.Path(name), os.O_RDWR, 0)
			if had != nil {
				defer had.Close()
			}
			c.moving(over)
			for range 20 {
				if way != "open descriptor" {
					name = own[r.IntN(len(own))]
				}
				c.save(way, name, had)
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
			}
		})
	}
	err := do()
	close(over)
	people.Wait()
	return err
}

// lost are the files whose last save is neither on disk nor in a commit.
func (c *crowd) lost() (list []string) {
	objects := c.Git("rev-list", "--objects", "--all", "--reflog")
	for name, text := range c.last {
		data, _ := os.ReadFile(c.Path(name))
		id := fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(text), text))))
		if string(data) != text && !strings.Contains(objects, id) {
			list = append(list, name+": "+text)
		}
	}
	clear(c.last)
	return list
}

// settle has what programs had open kept, now that they have closed it.
func (c *crowd) settle(h *engine.Session) {
	c.t.Helper()
	tree := enginetest.Must(h.Engine().Tree(c.t.Context(), enginetest.View(c.t, h)))(c.t)
	now := enginetest.Must(tree.Snapshot(c.t.Context()))(c.t)
	enginetest.Must(restore.In(tree).Restore(c.t.Context(), now, now, "settled"))(c.t)
	if left := enginetest.Must(restore.In(tree).Leftovers())(c.t); len(left) > 0 {
		c.t.Errorf("left over: %v", left)
	}
}

// layOut makes some files of a version: a third is in both versions, a third only in the first and so on.
func (c *crowd) layOut(files, version int) (names []string) {
	for i := range files {
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		names = append(names, name)
		if i%3 == 0 || i%3 == version {
			c.Write(name, fmt.Sprintf("version %d of %s\n", version, name))
		} else {
			_ = os.Remove(c.Path(name))
		}
	}
	return names
}

// TestNoSaveIsLost: people save files, by renaming and in place, while a rollback or a merge moves them. Their last save of
// each file is on disk or in a commit.
func TestNoSaveIsLost(t *testing.T) {
	t.Parallel()
	rounds, files, bad, refusedRounds, kept := enginetest.Most(2, 200), enginetest.Most(60, 400), 0, 0, 0
	p := enginetest.Repository(t, enginetest.Gate("true"))
	c := &crowd{Machine: p, t: t, last: map[string]string{}}
	r := rand.New(rand.NewPCG(1, 1))
	c.layOut(files, 1)
	h, sup, ex := p.Human(), p.Supervisor(), p.Executor("codex")
	enginetest.Must(sup.CreateTask(t.Context(), "Build it.", ""))(t)
	one := enginetest.View(t, h).Task.Seq
	enginetest.AllKept(sup)
	names := c.layOut(files, 2)
	enginetest.Claim(t, ex)
	enginetest.AllKept(ex)
	two := enginetest.View(t, h).Task.Seq
	for round := range rounds {
		to := []uint64{one, two}[round%2]
		var got engine.Rolled
		err := c.during(r, names, func() (err error) {
			got, err = h.RollbackFiles(t.Context(), to, "It went astray.", nil)
			return err
		})
		kept += len(got.Files.Edited)
		switch {
		case err != nil && refusal.CodeOf(err) == refusal.TreeChanged:
			refusedRounds++
		case err != nil:
			t.Fatal(err)
		}
		if round%5 == 4 { // and works in git
			c.Git([][]string{{"add", "-A"}, {"commit", "-qam", "mine", "--allow-empty"}, {"stash", "push", "-q", "-u"}}[round/5%3]...)
		}
		c.settle(h)
		if lost := c.lost(); len(lost) > 0 {
			bad++
			t.Errorf("round %d lost %q", round, lost)
		}
	}
	t.Logf("rig: cases=%d bad=%d; rollbacks of %d files with %d saves meanwhile, %d of them kept as edits; %d refused", rounds, bad, files, c.n, kept, refusedRounds)
}

// TestNoSaveIsLostInAMerge is the same for merges.
func TestNoSaveIsLostInAMerge(t *testing.T) {
	t.Parallel()
	if !kit.Full() {
		t.Skip("with -full; the usual form is TestAMergeNamesWhatIsEditedMeanwhile")
	}
	p := enginetest.Repository(t, enginetest.Gate("true"))
	c := &crowd{Machine: p, t: t, last: map[string]string{}}
	names := c.layOut(400, 1)
	p.Write(".gitignore", ".ferrus\n")
	p.Git("add", "-A")
	p.Git("commit", "-qm", "files")
	enginetest.Branched(t, p.Human(), branch.Fork{Names: []string{"alt"}, Own: true})
	alt := p.On("alt")
	enginetest.Must(alt.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	(&crowd{Machine: alt, t: t}).layOut(400, 2)
	alt.Does("done.txt", "done\n")
	p.Save()
	bad, refusedRounds, kept, rounds := 0, 0, 0, 200
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			c.Machine, c.t = p.Again(t), t
			r := rand.New(rand.NewPCG(uint64(round), 4))
			h := c.Human()
			var got branch.Merged
			err := c.during(r, names, func() (err error) {
				got, err = branch.Merge(t.Context(), h, c.On("alt").Human(), nil)
				return err
			})
			kept += len(got.Files.Edited)
			if refusal.CodeOf(err) == refusal.TreeChanged || refusal.CodeOf(err) == refusal.Conflict {
				refusedRounds++
			} else if err != nil {
				t.Fatal(err)
			}
			c.settle(h)
			if lost := c.lost(); len(lost) > 0 {
				bad++
				t.Errorf("lost %q", lost)
			}
		})
	}
	t.Logf("rig: cases=%d bad=%d; merges of 400 files with %d saves meanwhile, %d of them kept as edits; %d refused", rounds, bad, c.n, kept, refusedRounds)
}

// TestARollbackNamesWhatIsEditedMeanwhile: a program that has a file open while a rollback replaces it is named, and what it
// writes is in the result of the next one.
func TestARollbackNamesWhatIsEditedMeanwhile(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	h, sup, ex := p.Human(), p.Supervisor(), p.Executor("codex")
	enginetest.Must(sup.CreateTask(t.Context(), "Build it.", ""))(t)
	one := enginetest.View(t, h).Task.Seq
	enginetest.AllKept(sup)
	p.Write("code.txt", "two\n")
	enginetest.Claim(t, ex)
	enginetest.AllKept(ex)
	two := enginetest.View(t, h).Task.Seq
	had := enginetest.Must(os.OpenFile(p.Path("code.txt"), os.O_RDWR, 0))(t)
	defer had.Close()
	got := enginetest.Must(h.RollbackFiles(t.Context(), one, "It went astray.", nil))(t)
	edit := only(t, got.Files.Edited)
	if p.Read("code.txt") != "one\n" || edit.Path != "code.txt" || !strings.HasPrefix(edit.File, p.Path(".ferrus/git/move-")) {
		t.Errorf("%q, named %+v", p.Read("code.txt"), edit)
	}
	enginetest.Must(had.WriteAt([]byte("mine\n"), 0))(t)
	had.Close()
	edit = only(t, enginetest.Must(h.RollbackFiles(t.Context(), two, "No, it was right.", nil))(t).Files.Edited)
	printed(t, p, edit, "mine\n")
	if p.Read("code.txt") != "two\n" {
		t.Errorf("rolled back to %q", p.Read("code.txt"))
	}
}

func only(t *testing.T, edits []restore.Edit) restore.Edit {
	t.Helper()
	if len(edits) != 1 {
		t.Fatalf("named: %+v", edits)
	}
	return edits[0]
}

// printed runs the command that shows an edit.
func printed(t *testing.T, p *enginetest.Machine, e restore.Edit, want string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", e.Show)
	cmd.Dir = p.Dir
	if out, err := cmd.Output(); string(out) != want || err != nil {
		t.Errorf("%s prints %q, %v; want %q", e.Show, out, err, want)
	}
}

// TestNobodyWaitsForFilesThatAreKeptLater: a busy server is never without any, and a rollback must not wait for ever.
func TestNobodyWaitsForFilesThatAreKeptLater(t *testing.T) {
	enginetest.InFiles(t, "the clock of synctest does not run in a server")
	synctest.Test(t, func(t *testing.T) {
		k := snapshots.NewQueue()
		_, first := k.Next()
		waited := make(chan struct{})
		go func() {
			k.Wait()
			close(waited)
		}()
		synctest.Wait()
		before, later := k.Next()
		if before != first || k.State() != "being made" {
			t.Error("out of turn")
		}
		close(first)
		synctest.Wait()
		select {
		case <-waited:
		default:
			t.Error("what came later is waited for")
		}
		close(later)
		if k.Wait(); k.State() != "none" {
			t.Error(k.State())
		}
	})
}
