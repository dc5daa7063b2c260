package gc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// TestWhatEndedLongAgoGoes, whatever of it has gone already, and nothing else does.
func TestWhatEndedLongAgoGoes(t *testing.T) {
	made := enginetest.Repository(t, enginetest.Gate("true"))
	var clock *enginetest.Dial
	var old, young, present string
	t.Run("ready", func(t *testing.T) { // all that it opens is closed with it
		made.T = t
		clock, old, young, present = made.Aged()
		made.Git("update-ref", "refs/ferrus/t-20200101-000000-0000/1", "HEAD") // of another project in this repository
		made.Write(".ferrus/archive/archived-by-upstream/TASK.md", "old")
	})
	made.T = t
	made.Save()
	for name, before := range map[string]func(p *enginetest.Machine, old string){
		"all is there":           func(*enginetest.Machine, string) {},
		"the trees are gone":     func(p *enginetest.Machine, old string) { p.Unkept(old) },
		"the archive is gone":    func(p *enginetest.Machine, old string) { p.Unfiled("archive/" + old) },
		"half of the archive is": func(p *enginetest.Machine, old string) { p.Unfiled("archive/" + old + "/journal.jsonl") },
		"all but the trees is gone": func(p *enginetest.Machine, old string) {
			p.Unfiled("archive/"+old, "runs/"+old+".jsonl", "logs/*"+old+"*")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := made.Again(t)
			kept := [][]string{p.Of(young), p.Of(present), p.Of("t-20200101"), p.Of("upstream")}
			was := enginetest.JournalText(t, p.Dir)
			before(p, old)
			list := p.Swept(clock.Now())
			if len(list) != 1 || list[0].TaskID != old || list[0].Refs+int(list[0].Bytes) == 0 {
				t.Errorf("removed %+v", list)
			}
			if left := p.Of(old); len(left) > 0 {
				t.Errorf("left is %q", left)
			}
			for i, id := range []string{young, present, "t-20200101", "upstream"} {
				if got := p.Of(id); !slices.Equal(got, kept[i]) || len(got) == 0 {
					t.Errorf("of %s there is %q, not %q", id, got, kept[i])
				}
			}
			if enginetest.JournalText(t, p.Dir) != was {
				t.Error("the journal is another one")
			}
			if again := p.Swept(clock.Now()); len(again) > 0 {
				t.Errorf("and again %+v", again)
			}
			enginetest.Rolled(t, p.Human(), uint64(strings.Count(was, "\n"))-1) // to the creation of the present task
		})
	}
}

// TestATaskThatAnyMachineHasStays, however old it is: the project's own, that of a branch, and one that was given up today.
func TestATaskThatAnyMachineHasStays(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	clock := p.Clocked()
	h := p.Human()
	cases, bad := 0, 0
	went := func(what string, want ...string) {
		t.Helper()
		cases++
		var got []string
		for _, l := range p.Swept(clock.Now()) {
			got = append(got, l.TaskID)
		}
		if !slices.Equal(got, want) {
			bad++
			t.Errorf("%s: %q went, not %q", what, got, want)
		}
	}
	one := p.Finished("one")
	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}}) // goes on with one
	two := p.Finished("two")
	clock.Pass(40 * enginetest.Day)
	went("one is the branch's, two the project's")
	p.Begun()
	clock.Pass(40 * enginetest.Day)
	enginetest.Must(h.Reset(t.Context(), ""))(t)
	went("the third was given up today, after forty days of silence", two)
	enginetest.Must(branch.Remove(t.Context(), h, "alt", true))(t)
	p.Write(".ferrus/queue/later.md", "needs: alt="+one+"\n\nDo it.")
	went("one in the queue needs it")
	p.Remove(".ferrus/queue/later.md")
	went("the branch is no more", one)
	t.Logf("rig: cases=%d bad=%d; old tasks of the project and of a branch", cases, bad)
}

// TestARemovedBranchGoesWhole, a month after it was removed, also where that was cut off.
func TestARemovedBranchGoesWhole(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	clock := p.Clocked()
	h := p.Human()
	p.Begun()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt", "other"}})
	clock.Pass(40 * enginetest.Day)
	name, other := enginetest.Must(branch.Remove(t.Context(), h, "alt", true))(t), enginetest.Must(branch.Remove(t.Context(), h, "other", true))(t)
	p.Git("update-ref", "refs/ferrus/other/"+enginetest.View(t, h).Task.TaskID+"/2", "HEAD") // it was cut off before its last step
	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}})                           // again
	clock.Pass(20 * enginetest.Day)
	if list := p.Swept(clock.Now()); len(list) > 0 || len(p.Of(name)) == 0 {
		t.Errorf("removed %+v", list)
	}
	clock.Pass(20 * enginetest.Day)
	p.Write(".ferrus/queue/later.md", "needs: alt="+enginetest.View(t, h).Task.TaskID+"\n\nDo it.")
	if list := p.Swept(clock.Now()); len(list) > 0 {
		t.Errorf("removed %+v, which one in the queue needs", list)
	}
	p.Remove(".ferrus/queue/later.md")
	found := enginetest.Must(gc.Find(t.Context(), p.Dir, clock.Now().Add(-enginetest.Month)))(t)
	if len(found) != 2 || found[0].Branch != name || found[1].Branch != other || found[0].TaskID != "" || found[0].Refs == 0 || found[0].Bytes == 0 {
		t.Fatalf("found %+v", found)
	}
	folder := p.Path(".ferrus/archive/branches")
	if err := os.Rename(filepath.Join(folder, name), filepath.Join(folder, project.RemovingPrefix+name)); err != nil {
		t.Fatal(err)
	}
	p.Remove(".ferrus/archive/branches/" + project.RemovingPrefix + name + "/journal.jsonl")
	p.Swept(clock.Now())
	left, alive := slices.Concat(p.Of(name), p.Of(other), p.Of("refs/ferrus/other")), p.Of("refs/ferrus/alt/")
	if len(left) > 0 || len(alive) == 0 {
		t.Errorf("left is %q, and of the living %q", left, alive)
	}
}

// TestWhatWasKeptBetweenTasksGoesByItsEntry: the files before each merge, but not those of one that is not over.
func TestWhatWasKeptBetweenTasksGoesByItsEntry(t *testing.T) {
	p := enginetest.Repository(t, enginetest.Gate("true"))
	clock := p.Clocked()
	h := p.Human()
	merge := func(name string, fenced func() error) error {
		enginetest.Branched(t, h, branch.Fork{Names: []string{name}, Own: true})
		b := p.On(name)
		enginetest.Must(b.Human().CreateTask(t.Context(), "Do it.", ""))(t)
		b.Does(name, name+"\n")
		_, err := branch.Merge(t.Context(), h, b.Human(), fenced)
		clock.Pass(40 * enginetest.Day)
		return err
	}
	if err := merge("a", nil); err != nil {
		t.Fatal(err)
	}
	cut := errors.New("cut off")
	if err := merge("b", func() error { return cut }); !errors.Is(err, cut) {
		t.Fatal(err)
	}
	begun := enginetest.View(t, h).Task.Seq
	p.Git("update-ref", "refs/ferrus/"+snapshots.Unassigned+"/99", "HEAD") // of another project in this repository
	was := p.Of(snapshots.Unassigned)
	p.Swept(clock.Now())
	left := p.Of(snapshots.Unassigned)
	for _, name := range was {
		if ours := strings.Contains(name, fmt.Sprint("/", begun)) || strings.HasSuffix(name, "/99"); slices.Contains(left, name) != ours {
			t.Errorf("of %q there is %q", was, left)
		}
	}
	if len(left) < 2 || len(left) == len(was) {
		t.Errorf("of %q there is %q", was, left)
	}
	enginetest.Must(branch.Merge(t.Context(), h, p.On("b").Human(), nil))(t)
}

// TestNothingGoesWhileAMachineCannotBeRead: nobody knows what it needs.
func TestNothingGoesWhileAMachineCannotBeRead(t *testing.T) {
	enginetest.InFiles(t, "it changes journal.jsonl")
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	clock, old, _, _ := p.Aged()
	enginetest.Branched(t, p.Human(), branch.Fork{Names: []string{"alt"}, Own: true})
	p.Write(".ferrus/branches/alt/journal.jsonl", "no line\nat all\n")
	was := p.Of(old)
	_, err := gc.Find(t.Context(), p.Dir, clock.Now().Add(-enginetest.Month))
	enginetest.Refused(t, err, refusal.Corrupt, "alt", "nothing was removed")
	if !slices.Equal(p.Of(old), was) {
		t.Error("something went")
	}
}

// TestWithoutGitTheFilesGo.
func TestWithoutGitTheFilesGo(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	clock := p.Clocked()
	id := p.Finished("one")
	enginetest.Must(p.Human().Reset(t.Context(), ""))(t)
	enginetest.WantState(t, p.Human(), state.Idle)
	clock.Pass(40 * enginetest.Day)
	if list := p.Swept(clock.Now()); len(list) != 1 || list[0].TaskID != id || p.Exists(".ferrus/archive/"+id) {
		t.Errorf("removed %+v", list)
	}
}
