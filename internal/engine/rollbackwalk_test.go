package engine

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A moment is what a walk knows of an entry: the task, its documents, and the files of the work.
type moment struct {
	task  state.Task
	docs  map[string]string
	files map[string]string
}

// A walk goes through a task, forth and back.
type walk struct {
	*machine
	t       *testing.T
	r       *rand.Rand
	sup, ex *Session
	h       *Session
	past    map[uint64]moment
	rolls   map[bool]int
}

// TestWalksForthAndBack: wherever a rollback leads, with files or without, the task is what it was there, with its
// documents and, if wanted, its files; and the user's own things are as he left them. S2-12 to S2-16.
func TestWalksForthAndBack(t *testing.T) {
	t.Parallel()
	walks, steps := most(2, 500), 14
	bad, rolls := 0, map[bool]int{}
	for seed := range walks {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { walked(t, uint64(seed), steps, rolls) }) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; walks, with %d rollbacks of files and %d without", walks, bad, rolls[true], rolls[false])
	if rolls[true] < walks || rolls[false] < walks/2 {
		t.Error("too few rollbacks to say anything")
	}
}

func walked(t *testing.T, seed uint64, steps int, rolls map[bool]int) {
	p := repository(t, gate("test ! -e red"))
	p.write(".gitignore", "ignored\n.ferrus\n")
	p.write("ignored", "mine\n")
	p.git("add", ".gitignore")
	p.write("staged", "staged\n")
	p.git("add", "staged")
	p.write("stashed", "stashed\n")
	p.git("stash", "push", "-q", "-u", "--", "stashed")
	w := &walk{machine: p, t: t, r: rand.New(rand.NewPCG(seed, 1)), sup: p.supervisor(), ex: p.executor("codex"), h: p.human(), past: map[uint64]moment{}, rolls: rolls}
	own := w.own()
	must(w.sup.CreateTask(t.Context(), "Build it.", ""))(t)
	w.note()
	for i := range steps {
		if i%5 == 4 { // often enough, whatever the dice say
			w.back(i%10 == 4)
		} else {
			w.step()
		}
		if t.Failed() {
			return
		}
	}
	if diff := cmp.Diff(own, w.own()); diff != "" {
		t.Errorf("the user's own: %s", diff)
	}
}

// own is what is the user's: his index, stash, branches and what git ignores.
func (w *walk) own() map[string]string {
	index, err := os.ReadFile(w.path(".git/index"))
	if err != nil {
		w.t.Fatal(err)
	}
	return map[string]string{"index": string(index), "stash": w.git("stash", "list"), "heads": w.git("for-each-ref", "refs/heads", "refs/tags"),
		"head": w.git("rev-parse", "HEAD"), "ignored": w.read("ignored")}
}

// note remembers the entries that have come, all of which see the files as they are.
func (w *walk) note() {
	w.t.Helper()
	allKept(w.sup, w.ex, w.h)
	now := view(w.t, w.h)
	for l, err := range w.h.e.store.History() {
		if err != nil {
			w.t.Fatal(err)
		}
		if _, known := w.past[l.Seq]; known {
			continue
		}
		m := moment{task: l.State, files: w.files(), docs: map[string]string{}}
		for doc := range l.State.Docs {
			if slices.Contains(state.Docs(), doc) {
				text, err := w.h.e.store.Text(store.Snapshot{Task: l.State, Top: l}, doc)
				if err != nil {
					w.t.Fatal(err)
				}
				m.docs[string(doc)] = text
			}
		}
		if snapshotEvents[l.Event] == nil && l.Event != state.RollbackBegun { // what was kept last is what counts
			m.files = w.past[l.Seq-1].files
		}
		w.past[l.Seq] = m
	}
	if got := w.docs(); !maps.Equal(got, w.past[now.Task.Seq].docs) {
		w.t.Errorf("after entry %d: %s", now.Task.Seq, cmp.Diff(w.past[now.Task.Seq].docs, got))
	}
}

// docs are the documents as they lie there.
func (w *walk) docs() map[string]string {
	got := map[string]string{}
	for _, doc := range state.Docs() {
		if w.exists(".ferrus/" + string(doc)) {
			got[string(doc)] = w.read(".ferrus/" + string(doc))
		}
	}
	return got
}

// files are the files of the work, but for what is the user's own.
func (w *walk) files() map[string]string {
	got := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == ".ferrus") {
			return fs.SkipDir
		}
		if rel, _ := filepath.Rel(w.dir, path); !e.IsDir() && rel != "ignored" {
			got[rel] = w.read(rel)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// edit changes the work as an agent would.
func (w *walk) edit() {
	for range 1 + w.r.IntN(3) {
		name := []string{"code.txt", "a/b", "a/c", "new", "red", "a"}[w.r.IntN(6)]
		switch {
		case w.r.IntN(3) == 0:
			_ = os.RemoveAll(w.path(name))
		case name == "a" || strings.HasPrefix(name, "a/"):
			_ = os.RemoveAll(w.path("a"))
			w.write(name, fmt.Sprint(w.r.IntN(1000)))
		default:
			w.write(name, fmt.Sprint(w.r.IntN(1000)))
		}
	}
}

// step is one thing that an agent or a person does, whatever is allowed.
func (w *walk) step() {
	ctx := w.t.Context()
	now := view(w.t, w.h)
	if now.Task.State.InHand() {
		if !w.ex.Holds(now.Task) {
			claim(w.t, w.ex)
			w.note()
		}
		w.edit()
	}
	var err error
	switch dice := w.r.IntN(6); {
	case now.Task.State == state.AwaitingHuman:
		_, err = w.h.Answer(ctx, "", fmt.Sprint("answer ", w.r.IntN(1000)))
	case now.Task.State == state.Consultation && !now.Task.Consultation.Answered:
		_, err = w.h.Respond(ctx, fmt.Sprint("response ", w.r.IntN(1000)), "")
	case now.Task.State == state.Consultation:
		if !w.ex.Holds(now.Task) {
			claim(w.t, w.ex)
			w.note()
		}
		_, _, err = w.ex.AwaitResponse(ctx, brief)
	case now.Task.State == state.Reviewing && dice < 4:
		_, err = w.h.Reject(ctx, fmt.Sprint("notes ", w.r.IntN(1000)), "")
	case now.Task.State == state.Reviewing:
		if _, err = w.h.Approve(ctx, "", ""); refusal.CodeOf(err) == refusal.TreeChanged { // it came back without its files
			_, err = w.h.Reject(ctx, "Not that.", "")
		}
	case now.Task.State == state.Complete, now.Task.State == state.Failed:
		_, err = w.h.Reopen(ctx, fmt.Sprint("more ", w.r.IntN(1000)))
	case dice == 0:
		_, err = w.ex.AskHuman(ctx, "Red or blue?", nil)
	case dice == 1:
		_, err = w.ex.Consult(ctx, problem)
	case dice == 2:
		_, err = w.ex.Progress(ctx, fmt.Sprint("note ", w.r.IntN(1000)))
	case dice == 3:
		_, err = w.ex.Check(ctx, patience)
	default:
		_, err = w.ex.Submit(ctx, Submitting{Summary: fmt.Sprint("done ", w.r.IntN(1000)), Verification: "it is green", NoChange: "None is needed."}, patience)
	}
	if err != nil {
		w.t.Fatalf("in %s: %v", now.Task.State, err)
	}
	w.note()
}

// back rolls back to an entry, any one of them.
func (w *walk) back(files bool) {
	now := view(w.t, w.h)
	to := 1 + w.r.Uint64N(now.Task.Seq-1)
	want, present := w.past[to], w.files()
	w.rolls[files]++
	var done Done
	var err error
	if files {
		var got Rolled
		got, err = w.h.RollbackFiles(w.t.Context(), to, "It went astray.", nil)
		done = got.Done
	} else {
		done, err = w.h.Rollback(w.t.Context(), to, "It went astray.")
	}
	if err != nil {
		w.t.Fatalf("from %d to %d: %v", now.Task.Seq, to, err)
	}
	if files {
		present = want.files
	}
	if diff := cmp.Diff(present, w.files()); diff != "" {
		w.t.Errorf("from %d to %d, with files %v: %s", now.Task.Seq, to, files, diff)
	}
	if got := w.docs(); !maps.Equal(got, want.docs) {
		w.t.Errorf("from %d to %d: %s", now.Task.Seq, to, cmp.Diff(want.docs, got))
	}
	if diff := cmp.Diff(plainly(want.task), plainly(done.Task)); diff != "" {
		w.t.Errorf("from %d to %d: %s", now.Task.Seq, to, diff)
	}
	if done.Task.Epoch <= now.Task.Epoch || done.Task.ClaimedBy != "" {
		w.t.Errorf("epoch %d after %d, held by %q", done.Task.Epoch, now.Task.Epoch, done.Task.ClaimedBy)
	}
	w.note()
}

// plainly is a task without what may not go back.
func plainly(t state.Task) state.Task {
	var none state.Task
	t.Seq, t.Epoch, t.Since, t.UpdatedAt, t.Issued, t.Unattended, t.Violations, t.Pin = 0, 0, none.Since, none.UpdatedAt, none.Issued, nil, 0, none.Pin
	t.ClaimedBy, t.Session, t.ClaimedAt, t.Returning = "", "", none.ClaimedAt, none.Returning
	if t.Check.Status == state.CheckRunning {
		t.Check.Status = state.CheckAbandoned
	}
	t.Decisions = slices.DeleteFunc(slices.Clone(t.Decisions), func(r state.Record) bool { return strings.HasPrefix(r.ID, "rollback-") })
	if len(t.Decisions) == 0 {
		t.Decisions = nil
	}
	return t
}
