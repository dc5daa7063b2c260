//go:build unix

package clients

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// errands are done all at once. Noon and dusk do not agree.
var errands = []errand{
	{branch: "noon", file: "sky.txt", line: "It is azure."},
	{branch: "dusk", file: "sky.txt", line: "It is crimson."},
	{branch: "rain", file: "rain.txt", line: "It pours.", waits: true},
	{branch: "wind", file: "wind.txt", line: "It howls.", waits: true},
}

// mortal is the branch whose executor is killed, and that as often.
const (
	mortal = "rain"
	deaths = 2
)

// first is the epoch of the first claim on a branch: its beginning has one of its own.
const first = 2

// TestFourBranchesAtOnce: real clients on four branches, one of which dies and dies again; none hears of another's work, and
// what they have made is merged, but for what does not fit.
func TestFourBranchesAtOnce(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" dies", func(t *testing.T) { fourAtOnce(t, p.supervisor, p.executor) })
	}
}

// fourAtOnce has those branches that wait done by these, and the others the other way round.
func fourAtOnce(t *testing.T, supervisor, executor string) {
	r := newRig(t, executor, supervisor, model.Diligent(newMeeting(len(errands)).rule, halfway(mortal, first+deaths-1), model.ReadPatch(),
		model.Work(obey)))
	r.write("check.sh", "test -n \"$(git status --porcelain)\"\n")
	r.write("sky.txt", "It is grey.\n")
	r.commit()
	for _, e := range errands {
		if !e.waits {
			r.must(ferrus, "task", "--branch", e.branch, e.text())
		}
	}
	r.configure(config(supervisor, executor)) // for those to come
	r.commit()
	for _, e := range errands {
		if e.waits {
			r.write(".ferrus/queue/"+e.branch+".md", e.text())
		}
	}
	began := time.Now()
	c := r.conduct("run", "--parallel", "4", "--headless", "--json")
	for epoch := range deaths {
		r.kill(first + epoch)
	}
	<-c.done
	t.Logf("%.1f s, %d requests", time.Since(began).Seconds(), len(r.model.Seen()))
	if c.code != 0 {
		t.Fatalf("exit code %d\n%s", c.code, &c.out)
	}
	for _, e := range errands {
		on := r.on(e.branch)
		on.done(e)
		if e.waits {
			on.staffed(supervisor, executor)
		} else {
			on.staffed(executor, supervisor)
		}
	}
	r.apart(errands)
	if got := r.events(); len(got) > 0 {
		t.Errorf("the project's journal: %v", got)
	}
	r.gone()
	r.mergeAll()
	t.Logf("%.1f s with the merges", time.Since(began).Seconds())
}

// kill ends the executor of the mortal branch in the middle of its work: at first the client alone, then all of its slot.
func (r *rig) kill(epoch int) {
	r.t.Helper()
	on := r.on(mortal)
	kit.Eventually(r.t, "the executor to be in the middle of it", func() bool {
		return slices.ContainsFunc(r.model.Seen(), func(s model.Seen) bool { return s.Reply.Hang && s.Packet().Epoch == epoch })
	})
	victims := []int{-on.shim(agents.Executor)}
	if epoch == first {
		victims = on.clients(agents.Executor)
	}
	r.slay(victims...)
}

// done: the errand of a branch is, by its own clients, in its own work tree, and by its own journal nothing else.
func (r *rig) done(e errand) {
	r.t.Helper()
	dead := r.dead()
	want := []state.Event{state.Branch, state.CreateTask}
	for range dead + 1 {
		want = append(want, state.Claim)
	}
	want = append(want, state.CheckStarted, state.CheckPassed, state.Submit, state.Approve)
	lines, epochs, now := r.history(), []uint64{}, r.now()
	for _, l := range lines {
		if l.State.TaskID != now.TaskID && l.Event != state.Branch {
			r.t.Errorf("%s of another task: %s", l.Event, l.State.TaskID)
		}
		if l.Event == state.Claim {
			epochs = append(epochs, l.Epoch)
		}
		for _, doc := range l.Docs {
			for _, other := range errands {
				if other.branch != e.branch && strings.Contains(doc, other.line) {
					r.t.Errorf("%s has what is %s's: %s", l.Event, other.branch, doc)
				}
			}
		}
	}
	if got := r.events(); !slices.Equal(got, want) || now.State != state.Complete || now.Title != strings.TrimSpace(e.text()) {
		r.t.Errorf("%s %q, journal %v\nwant %v", now.State, now.Title, got, want)
	}
	if !slices.Equal(epochs, []uint64{first, first + 1, first + 2}[:dead+1]) {
		r.t.Errorf("claimed under the epochs %v", epochs)
	}
	mark := map[bool]string{true: "??", false: " M"}[e.file != "sky.txt"]
	if got := r.must("git", "-C", r.place().Work, "status", "--porcelain"); got != mark+" "+e.file+"\n" || r.text(filepath.Join(r.place().Work, e.file)) != e.line+"\n" {
		r.t.Errorf("its work tree:\n%s", got)
	}
	r.gone()
}

// dead is how many executors of the branch were killed.
func (r *rig) dead() int {
	if r.branch == mortal {
		return deaths
	}
	return 0
}

// staffed: those were started whom ferrus.toml named when the branch got its task, and went as they should.
func (r *rig) staffed(supervisor, executor string) {
	r.t.Helper()
	dead := r.dead()
	runs, err := process.Runs(r.machine("runs/" + r.now().TaskID + ".jsonl"))
	if err != nil || len(runs) != dead+2 {
		r.t.Fatalf("%v\n%s", err, r.runs())
	}
	for i, run := range runs {
		duty, agent := agents.Executor, executor
		if i > dead {
			duty, agent = agents.Reviewer, supervisor
		}
		killed := run.Signal != "" || run.Error != ""
		if run.Duty != duty || run.Agent != agent || killed != (i < dead) {
			r.t.Errorf("%+v\nwant %s, %s", run, agent, duty)
		}
	}
}

// mergeAll merges the branches, one after the other. A person is at work in the project, whose own things stay as they are.
func (r *rig) mergeAll() {
	r.t.Helper()
	r.write("sky.txt", "It is put away.\n")
	r.must("git", append(slices.Clone(signed), "stash")...)
	r.write("mine.txt", "It is staged.\n")
	r.must("git", "add", "mine.txt")
	begun := r.still()
	for _, e := range errands {
		before := r.still()
		code, out := r.run(ferrus, "merge", e.branch, "--json")
		if e.branch != "dusk" {
			if code != 0 {
				r.t.Errorf("merge %s: exit code %d\n%s", e.branch, code, out)
			}
			continue
		}
		var refused struct {
			Code      refusal.Code
			Remedy    string
			Conflicts []struct{ Path string }
		}
		if err := json.Unmarshal([]byte(out), &refused); err != nil || code != 6 || refused.Code != refusal.Conflict || refused.Remedy == "" ||
			len(refused.Conflicts) != 1 || refused.Conflicts[0].Path != "sky.txt" {
			r.t.Errorf("exit code %d, %v\n%s", code, err, out)
		}
		if diff := cmp.Diff(before, r.still()); diff != "" {
			r.t.Errorf("the merge that was refused has changed\n%s", diff)
		}
	}
	want, last := maps.Clone(begun), r.still()
	for _, e := range errands {
		if e.branch != "dusk" {
			want[r.path(e.file)] = e.line + "\n"
		}
		key := ".ferrus/branches/" + e.branch + "/journal.jsonl"
		want[key] = last[key]
	}
	want[".ferrus/journal.jsonl"] = last[".ferrus/journal.jsonl"]
	if diff := cmp.Diff(want, last); diff != "" {
		r.t.Errorf("the project, after all\n%s", diff)
	}
	merged := []state.Event{state.MergeBegun, state.Merge, state.MergeBegun, state.Merge, state.MergeBegun, state.Merge}
	if got := r.events(); !slices.Equal(got, merged) {
		r.t.Errorf("the project's journal: %v", got)
	}
}

// still is all that a merge must leave alone when it is refused, by name: files of the project, and of dusk's work tree, what
// git has of them, and the journals.
func (r *rig) still() map[string]string {
	r.t.Helper()
	all := map[string]string{
		"refs":  r.must("git", "for-each-ref", "refs/heads", "refs/stash"),
		"stash": r.must("git", "stash", "list"),
	}
	keep := []string{".git/index", ".git/HEAD", ".ferrus/journal.jsonl"}
	for _, e := range errands {
		keep = append(keep, ".ferrus/branches/"+e.branch+"/journal.jsonl")
	}
	for _, name := range keep {
		all[name] = r.text(name)
	}
	for _, top := range []string{r.dir, r.on("dusk").place().Work} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == ".ferrus" || d.Name() == ".git"):
				return fs.SkipDir
			case !d.IsDir():
				all[path] = r.text(path)
			}
			return nil
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return all
}
