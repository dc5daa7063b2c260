//go:build unix

package branch_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A side is what a merge walk knows of a branch: the files from which its work goes.
type side struct {
	*enginetest.Machine
	base string
}

// A mergeWalk has branches worked on and merged, while a user works at the project.
type mergeWalk struct {
	*enginetest.Machine
	t      *testing.T
	r      *rand.Rand
	h      *engine.Session
	sides  []*side
	came   map[string]int
	merged int
	red    bool // the gate is to be red on the project's files
}

// TestMergesAsGitWould: whatever was done in the project and on its branches, a merge brings in what git's own merge makes of
// the files, or is refused and nothing is changed; and what is the user's is never touched.
func TestMergesAsGitWould(t *testing.T) {
	first, walks, steps := enginetest.Most(3, 0), enginetest.Most(1, 60), enginetest.Most(5, 25) // the fourth comes to most in few steps
	came, bad, merges := map[string]int{}, 0, 0
	for seed := first; seed < first+walks; seed++ {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { merges += mergesWalked(t, uint64(seed), steps, came) }) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; walks, with %d merges: %v", walks, bad, merges, came)
	if came["merged"] == 0 || kit.Full() && len(came) < 6 {
		t.Error("too little came of it to say anything")
	}
}

func mergesWalked(t *testing.T, seed uint64, steps int, came map[string]int) int {
	p := enginetest.Repository(t, enginetest.Gate("test ! -e red"))
	p.Lived(map[string]string{"keep.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "a/b": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	w := &mergeWalk{Machine: p, t: t, r: rand.New(rand.NewPCG(seed, 3)), h: p.Human(), came: came}
	for _, name := range []string{"one", "two"} {
		w.sides = append(w.sides, &side{p.On(name), w.tree(p)})
		enginetest.Branched(t, w.h, branch.Fork{Names: []string{name}, Own: true})
		w.edit(p)
	}
	for i := range steps {
		w.edit(p)
		w.red = i == 2 || w.r.IntN(6) == 0
		if w.r.IntN(2) == 0 {
			p.Git("add", "-A")
		}
		if s := w.sides[i%len(w.sides)]; i < 3 || w.r.IntN(3) > 0 {
			w.merge(s)
		} else {
			w.sides = append(w.sides[:0:0], w.sides[len(w.sides)-1], w.sides[0])
		}
		if t.Failed() {
			return w.merged
		}
	}
	return w.merged
}

// tree is what git would add of a work tree now.
func (w *mergeWalk) tree(p *enginetest.Machine) string {
	w.t.Helper()
	index := filepath.Join(p.Side, "index")
	_ = os.Remove(index)
	var out []byte
	for _, args := range [][]string{{"add", "-A"}, {"write-tree"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), "GIT_INDEX_FILE="+index)
		var err error
		if out, err = cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return strings.TrimSpace(string(out))
}

// edit changes files as anybody would.
func (w *mergeWalk) edit(p *enginetest.Machine) {
	names := []string{"code.txt", "keep.txt", "a/b", "a/c", "a", "new", "link"}
	for range 1 + w.r.IntN(2) {
		name := names[w.r.IntN(len(names))]
		path := p.Path(name)
		info, err := os.Lstat(path)
		regular := err == nil && info.Mode().IsRegular()
		switch dice := w.r.IntN(8); {
		case regular && dice < 4: // one line of it
			lines := strings.SplitAfter(p.Read(name), "\n")
			lines[w.r.IntN(len(lines))] = fmt.Sprint(w.r.IntN(1000), "\n")
			p.Write(name, strings.Join(lines, ""))
		case regular && dice == 4:
			if err := os.Chmod(path, info.Mode()^0o111); err != nil {
				w.t.Fatal(err)
			}
		case regular && dice == 5:
			w.clear(p, "moved/"+name)
			p.Write("moved/"+name, p.Read(name))
			p.Remove(name)
		case dice == 6:
			_ = os.RemoveAll(path)
		case dice == 7 && name != "a":
			w.clear(p, name)
			if err := os.Symlink(fmt.Sprint("to-", w.r.IntN(3)), path); err != nil {
				w.t.Fatal(err)
			}
		default:
			w.clear(p, name)
			p.Write(name, "1\n2\n3\n"+fmt.Sprint(w.r.IntN(3))+"\n")
		}
	}
}

// clear removes what is in the place of a file.
func (w *mergeWalk) clear(p *enginetest.Machine, name string) {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(p.Path(dir)); err == nil && !info.IsDir() {
			p.Remove(dir)
		}
	}
	if err := errors.Join(os.RemoveAll(p.Path(name)), os.MkdirAll(filepath.Dir(p.Path(name)), 0o755)); err != nil {
		w.t.Fatal(err)
	}
}

// worked has the branch's task taken up, from wherever it is, worked on and approved.
func (w *mergeWalk) worked(s *side) {
	h := s.Human()
	now := enginetest.View(w.t, h)
	switch {
	case now.Task.State == state.Idle:
		enginetest.Must(h.CreateTask(w.t.Context(), "Do it.", ""))(w.t)
	case now.Task.State == state.Complete && w.r.IntN(2) == 0:
		enginetest.Must(h.Reopen(w.t.Context(), "More."))(w.t)
		w.came["reopened"]++
	case now.Task.State == state.Complete:
		enginetest.Must(h.RollbackFiles(w.t.Context(), now.Task.Seq-3, "Again.", nil))(w.t)
		w.came["rolled back"]++
	}
	if now = enginetest.View(w.t, h); now.Task.State == state.Reviewing {
		enginetest.Must(h.Reject(w.t.Context(), "More.", ""))(w.t)
	}
	ex := s.Executor("codex")
	enginetest.Claim(w.t, ex)
	w.edit(s.Machine)
	w.resolve(s.Machine)
	_ = os.Remove(s.Path("red"))
	enginetest.Submitted(w.t, ex)
	enginetest.Must(h.Approve(w.t.Context(), "", ""))(w.t)
	enginetest.AllKept(h, ex) // for a rollback by another session
}

// resolve takes the marks of conflicts out of the files: with them nothing is submitted.
func (w *mergeWalk) resolve(p *enginetest.Machine) {
	for name := range strings.FieldsSeq(strings.ReplaceAll(p.Git("ls-files", "-co", "--exclude-standard"), "\n", " ")) {
		if info, err := os.Lstat(p.Path(name)); err == nil && info.Mode().IsRegular() && regexp.MustCompile(`(?m)^(<|>){7} `).MatchString(p.Read(name)) {
			p.Write(name, "1\n2\n3\nboth\n")
		}
	}
}

// merge has a branch worked on and merges it.
func (w *mergeWalk) merge(s *side) {
	w.worked(s)
	if w.red {
		w.Write("red", "red\n")
	} else {
		_ = os.Remove(w.Path("red"))
	}
	ours, theirs, own := w.tree(w.Machine), w.tree(s.Machine), w.Users()
	want, conflicts := w.model(s.base, ours, theirs)
	red := theirs != want && strings.Contains("\n"+w.Git("ls-tree", "--name-only", want), "\nred\n")
	was, journals := enginetest.View(w.t, s.Human()).Journal, enginetest.JournalText(w.t, w.Dir)
	w.merged++
	got, err := branch.Merge(w.t.Context(), w.h, s.Human(), nil)
	if now := w.Users(); now != own {
		w.t.Errorf("the user's own was\n%s\nand is\n%s", own, now)
	}
	if now := w.tree(s.Machine); now != theirs {
		w.t.Errorf("the branch's files were %s, and are %s", theirs, now)
	}
	var clash *branch.ConflictError
	switch {
	case err == nil && (conflicts || red):
		w.t.Errorf("it is merged: conflicts %v, red %v", conflicts, red)
	case err == nil:
		w.came["merged"]++
		if now := w.tree(w.Machine); now != want || got.Tree != want {
			w.t.Errorf("merged to %s, %s on disk, and git says\n%s", got.Tree, now, w.Git("diff", want, now))
		}
		if _, err := branch.Merge(w.t.Context(), w.h, s.Human(), nil); refusal.CodeOf(err) != refusal.WrongState {
			w.t.Errorf("merged twice: %v", err)
		}
		return
	case !errors.As(err, &clash) && refusal.CodeOf(err) != refusal.TreeChanged:
		w.t.Errorf("%v", err)
	case conflicts != (clash != nil && len(clash.Conflicts) > 0) || !conflicts && red != (clash != nil):
		w.t.Errorf("conflicts %v, red %v, and: %v", conflicts, red, err)
	}
	if now := w.tree(w.Machine); now != ours || enginetest.View(w.t, s.Human()).Journal != was || enginetest.JournalText(w.t, w.Dir) != journals {
		w.t.Errorf("it is refused, and something has changed: %v", err)
	}
	switch {
	case clash == nil:
		w.came["in the way"]++
	case conflicts:
		w.came["conflict"]++
	default:
		w.came["red"]++
	}
	if clash != nil && w.r.IntN(2) == 0 {
		enginetest.Must(branch.Resolve(w.t.Context(), w.h, s.Human(), clash))(w.t)
		s.base = ours
		w.came["resolved"]++
		merged, _ := clash.Trees()
		if now := w.tree(s.Machine); now != merged { // as git's, but for the ids of the sides
			w.t.Errorf("its executor has not what git has made of it: %s", w.Git("diff", merged, now))
		}
	}
}

// model is git's own merge.
func (w *mergeWalk) model(base, ours, theirs string) (tree string, conflicts bool) {
	commit := func(tree string, parents ...string) string {
		return strings.TrimSpace(w.Git(append([]string{"commit-tree", "-m", "x", tree}, parents...)...))
	}
	root := commit(base)
	cmd := exec.Command("git", "-c", "merge.directoryRenames=conflict", "-c", "diff.algorithm=histogram", "merge-tree", "--write-tree",
		commit(ours, "-p", root), commit(theirs, "-p", root))
	cmd.Dir = w.Dir
	out, err := cmd.Output()
	if no := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &no) && no.ExitCode() == 1) {
		w.t.Fatalf("git merge-tree: %v\n%s", err, out)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first, err != nil
}
