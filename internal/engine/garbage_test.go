package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/gc"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/snapshots"
	"github.com/ferrus-go/ferrus/internal/state"
)

const (
	day   = 24 * time.Hour
	month = 30 * day
)

// aged has a task that ended forty days ago, one that has just ended, and one under way.
func (p *machine) aged() (clock *dial, old, young, present string) {
	p.t.Helper()
	clock = p.clocked()
	old = p.finished("one")
	clock.pass(40 * day)
	young = p.finished("two")
	sup, ex := p.begun()
	allKept(sup, ex)
	return clock, old, young, view(p.t, sup).Task.TaskID
}

// finished is a task that was made, checked, submitted and approved.
func (p *machine) finished(text string) string {
	p.t.Helper()
	sup, ex := p.supervisor(), p.executor("codex")
	must(sup.CreateTask(p.t.Context(), text, ""))(p.t)
	claim(p.t, ex)
	p.write("code.txt", text+"\n")
	submitted(p.t, ex)
	must2(sup.Review(p.t.Context()))(p.t)
	id := must(sup.Approve(p.t.Context(), "Good.", ""))(p.t).Task.TaskID
	p.write(".ferrus/runs/"+id+".jsonl", "")
	p.write(".ferrus/logs/agent-"+id+"-executor-1.log", "said")
	allKept(sup, ex)
	return id
}

// of is all that there is of a task but the journal: files below .ferrus, and kept trees.
func (p *machine) of(task string) []string {
	p.t.Helper()
	list := strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/ferrus"))
	err := filepath.WalkDir(p.path(".ferrus"), func(path string, _ os.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(name string) bool { return !strings.Contains(name, task) })
}

// swept removes what is older than a month, and returns what that was.
func (p *machine) swept(now time.Time) []gc.Garbage {
	p.t.Helper()
	list, err := gc.Find(p.t.Context(), p.dir, now.Add(-month))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, l := range list {
		if err := gc.Sweep(p.t.Context(), p.dir, l); err != nil {
			p.t.Fatal(err)
		}
	}
	return list
}

// TestWhatEndedLongAgoGoes, whatever of it has gone already, and nothing else does.
func TestWhatEndedLongAgoGoes(t *testing.T) {
	made := repository(t, gate("true"))
	var clock *dial
	var old, young, present string
	t.Run("ready", func(t *testing.T) { // all that it opens is closed with it
		made.t = t
		clock, old, young, present = made.aged()
		made.git("update-ref", "refs/ferrus/t-20200101-000000-0000/1", "HEAD") // of another project in this repository
		made.write(".ferrus/archive/archived-by-upstream/TASK.md", "old")
	})
	made.t = t
	made.save()
	for name, before := range map[string]func(p *machine, old string){
		"all is there":              func(*machine, string) {},
		"the trees are gone":        func(p *machine, old string) { p.unkept(old) },
		"the archive is gone":       func(p *machine, old string) { p.unfiled("archive/" + old) },
		"half of the archive is":    func(p *machine, old string) { p.unfiled("archive/" + old + "/journal.jsonl") },
		"all but the trees is gone": func(p *machine, old string) { p.unfiled("archive/"+old, "runs/"+old+".jsonl", "logs/*"+old+"*") },
	} {
		t.Run(name, func(t *testing.T) {
			p := made.again(t)
			kept := [][]string{p.of(young), p.of(present), p.of("t-20200101"), p.of("upstream")}
			was := journal(t, p.dir)
			before(p, old)
			list := p.swept(clock.now())
			if len(list) != 1 || list[0].TaskID != old || list[0].Refs+int(list[0].Bytes) == 0 {
				t.Errorf("removed %+v", list)
			}
			if left := p.of(old); len(left) > 0 {
				t.Errorf("left is %q", left)
			}
			for i, id := range []string{young, present, "t-20200101", "upstream"} {
				if got := p.of(id); !slices.Equal(got, kept[i]) || len(got) == 0 {
					t.Errorf("of %s there is %q, not %q", id, got, kept[i])
				}
			}
			if journal(t, p.dir) != was {
				t.Error("the journal is another one")
			}
			if again := p.swept(clock.now()); len(again) > 0 {
				t.Errorf("and again %+v", again)
			}
			rolled(t, p.human(), uint64(strings.Count(was, "\n"))-1) // to the creation of the present task
		})
	}
}

func (p *machine) unkept(task string) {
	for name := range strings.FieldsSeq(p.git("for-each-ref", "--format=%(refname)", "refs/ferrus/"+task)) {
		p.git("update-ref", "-d", name)
	}
}

func (p *machine) unfiled(patterns ...string) {
	for _, pattern := range patterns {
		found, err := filepath.Glob(p.path(".ferrus/" + pattern))
		if err != nil || len(found) == 0 {
			p.t.Fatalf("no %s: %v", pattern, err)
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// TestATaskThatAnyMachineHasStays, however old it is: the project's own, that of a branch, and one that was given up today.
func TestATaskThatAnyMachineHasStays(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	clock := p.clocked()
	h := p.human()
	cases, bad := 0, 0
	went := func(what string, want ...string) {
		t.Helper()
		cases++
		var got []string
		for _, l := range p.swept(clock.now()) {
			got = append(got, l.TaskID)
		}
		if !slices.Equal(got, want) {
			bad++
			t.Errorf("%s: %q went, not %q", what, got, want)
		}
	}
	one := p.finished("one")
	branched(t, h, Fork{Names: []string{"alt"}}) // goes on with one
	two := p.finished("two")
	clock.pass(40 * day)
	went("one is the branch's, two the project's")
	p.begun()
	clock.pass(40 * day)
	must(h.Reset(t.Context(), ""))(t)
	went("the third was given up today, after forty days of silence", two)
	must(h.Remove(t.Context(), "alt", true))(t)
	went("the branch is no more", one)
	t.Logf("rig: cases=%d bad=%d; old tasks of the project and of a branch", cases, bad)
}

// TestARemovedBranchGoesWhole, a month after it was removed, also where that was cut off.
func TestARemovedBranchGoesWhole(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	clock := p.clocked()
	h := p.human()
	p.begun()
	branched(t, h, Fork{Names: []string{"alt", "other"}})
	clock.pass(40 * day)
	name, other := must(h.Remove(t.Context(), "alt", true))(t), must(h.Remove(t.Context(), "other", true))(t)
	p.git("update-ref", "refs/ferrus/other/"+view(t, h).Task.TaskID+"/2", "HEAD") // it was cut off before its last step
	branched(t, h, Fork{Names: []string{"alt"}})                                  // again
	clock.pass(20 * day)
	if list := p.swept(clock.now()); len(list) > 0 || len(p.of(name)) == 0 {
		t.Errorf("removed %+v", list)
	}
	clock.pass(20 * day)
	found := must(gc.Find(t.Context(), p.dir, clock.now().Add(-month)))(t)
	if len(found) != 2 || found[0].Branch != name || found[1].Branch != other || found[0].TaskID != "" || found[0].Refs == 0 || found[0].Bytes == 0 {
		t.Fatalf("found %+v", found)
	}
	folder := p.path(".ferrus/archive/branches")
	if err := os.Rename(filepath.Join(folder, name), filepath.Join(folder, gc.RemovingPrefix+name)); err != nil {
		t.Fatal(err)
	}
	p.remove(".ferrus/archive/branches/" + gc.RemovingPrefix + name + "/journal.jsonl")
	p.swept(clock.now())
	left, alive := slices.Concat(p.of(name), p.of(other), p.of("refs/ferrus/other")), p.of("refs/ferrus/alt/")
	if len(left) > 0 || len(alive) == 0 {
		t.Errorf("left is %q, and of the living %q", left, alive)
	}
}

// TestWhatWasKeptBetweenTasksGoesByItsEntry: the files before each merge, but not those of one that is not over.
func TestWhatWasKeptBetweenTasksGoesByItsEntry(t *testing.T) {
	p := repository(t, gate("true"))
	clock := p.clocked()
	h := p.human()
	merge := func(name string, fenced func() error) error {
		branched(t, h, Fork{Names: []string{name}, Own: true})
		b := p.on(name)
		must(b.human().CreateTask(t.Context(), "Do it.", ""))(t)
		b.does(name, name+"\n")
		_, err := h.Merge(t.Context(), b.human(), fenced)
		clock.pass(40 * day)
		return err
	}
	if err := merge("a", nil); err != nil {
		t.Fatal(err)
	}
	cut := errors.New("cut off")
	if err := merge("b", func() error { return cut }); !errors.Is(err, cut) {
		t.Fatal(err)
	}
	begun := view(t, h).Task.Seq
	p.git("update-ref", "refs/ferrus/"+snapshots.Unassigned+"/99", "HEAD") // of another project in this repository
	was := p.of(snapshots.Unassigned)
	p.swept(clock.now())
	left := p.of(snapshots.Unassigned)
	for _, name := range was {
		if ours := strings.Contains(name, fmt.Sprint("/", begun)) || strings.HasSuffix(name, "/99"); slices.Contains(left, name) != ours {
			t.Errorf("of %q there is %q", was, left)
		}
	}
	if len(left) < 2 || len(left) == len(was) {
		t.Errorf("of %q there is %q", was, left)
	}
	must(h.Merge(t.Context(), p.on("b").human(), nil))(t)
}

// TestNothingGoesWhileAMachineCannotBeRead: nobody knows what it needs.
func TestNothingGoesWhileAMachineCannotBeRead(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	clock, old, _, _ := p.aged()
	branched(t, p.human(), Fork{Names: []string{"alt"}, Own: true})
	p.write(".ferrus/branches/alt/journal.jsonl", "no line\nat all\n")
	was := p.of(old)
	_, err := gc.Find(t.Context(), p.dir, clock.now().Add(-month))
	refused(t, err, refusal.Corrupt, "alt", "nothing was removed")
	if !slices.Equal(p.of(old), was) {
		t.Error("something went")
	}
}

// TestWithoutGitTheFilesGo.
func TestWithoutGitTheFilesGo(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	clock := p.clocked()
	id := p.finished("one")
	must(p.human().Reset(t.Context(), ""))(t)
	wantState(t, p.human(), state.Idle)
	clock.pass(40 * day)
	if list := p.swept(clock.now()); len(list) != 1 || list[0].TaskID != id || p.exists(".ferrus/archive/"+id) {
		t.Errorf("removed %+v", list)
	}
}
