package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A moment is what a walk knows of an entry: the task, its documents, and the files of the work.
type moment struct {
	task  state.Task
	docs  map[string]string
	files map[string]string
}

// A walk goes through a task, forth and back.
type walk struct {
	*enginetest.Machine
	t       *testing.T
	r       *rand.Rand
	sup, ex *engine.Session
	h       *engine.Session
	past    map[uint64]moment
	rolls   map[bool]int
}

// TestWalksForthAndBack: wherever a rollback leads, with files or without, the task is what it was there, with its
// documents and, if wanted, its files; and the user's own things are as he left them. S2-12 to S2-16.
func TestWalksForthAndBack(t *testing.T) {
	enginetest.InFiles(t, "it reads the documents in the folder")
	t.Parallel()
	walks, steps := enginetest.Most(2, 500), 14
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
	p := enginetest.Repository(t, enginetest.Gate("test ! -e red"))
	p.Write(".gitignore", "ignored\n.ferrus\n")
	p.Write("ignored", "mine\n")
	p.Git("add", ".gitignore")
	p.Write("staged", "staged\n")
	p.Git("add", "staged")
	p.Write("stashed", "stashed\n")
	p.Git("stash", "push", "-q", "-u", "--", "stashed")
	w := &walk{Machine: p, t: t, r: rand.New(rand.NewPCG(seed, 1)), sup: p.Supervisor(), ex: p.Executor("codex"), h: p.Human(), past: map[uint64]moment{}, rolls: rolls}
	own := w.own()
	enginetest.Must(w.sup.CreateTask(t.Context(), "Build it.", ""))(t)
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
	index, err := os.ReadFile(w.Path(".git/index"))
	if err != nil {
		w.t.Fatal(err)
	}
	return map[string]string{"index": string(index), "stash": w.Git("stash", "list"), "heads": w.Git("for-each-ref", "refs/heads", "refs/tags"),
		"head": w.Git("rev-parse", "HEAD"), "ignored": w.Read("ignored")}
}

// note remembers the entries that have come, all of which see the files as they are.
func (w *walk) note() {
	w.t.Helper()
	enginetest.AllKept(w.sup, w.ex, w.h)
	now := enginetest.View(w.t, w.h)
	for l, err := range w.h.Engine().Store().History() {
		if err != nil {
			w.t.Fatal(err)
		}
		if _, known := w.past[l.Seq]; known {
			continue
		}
		m := moment{task: l.State, files: w.Contents(), docs: map[string]string{}}
		for doc := range l.State.Docs {
			if slices.Contains(state.Docs(), doc) {
				text, err := store.Text(w.h.Engine().Store(), store.Snapshot{Task: l.State, Top: l}, doc)
				if err != nil {
					w.t.Fatal(err)
				}
				m.docs[string(doc)] = text
			}
		}
		if snapshots.Events[l.Event] == nil && l.Event != state.RollbackBegun { // what was kept last is what counts
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
		if w.Exists(".ferrus/" + string(doc)) {
			got[string(doc)] = w.Read(".ferrus/" + string(doc))
		}
	}
	return got
}

// edit changes the work as an agent would.
func (w *walk) edit() {
	for range 1 + w.r.IntN(3) {
		name := []string{"code.txt", "a/b", "a/c", "new", "red", "a"}[w.r.IntN(6)]
		switch {
		case w.r.IntN(3) == 0:
			_ = os.RemoveAll(w.Path(name))
		case name == "a" || strings.HasPrefix(name, "a/"):
			_ = os.RemoveAll(w.Path("a"))
			w.Write(name, fmt.Sprint(w.r.IntN(1000)))
		default:
			w.Write(name, fmt.Sprint(w.r.IntN(1000)))
		}
	}
}

// step is one thing that an agent or a person does, whatever is allowed.
func (w *walk) step() {
	ctx := w.t.Context()
	now := enginetest.View(w.t, w.h)
	if now.Task.State.InHand() {
		if !w.ex.Holds(now.Task) {
			enginetest.Claim(w.t, w.ex)
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
			enginetest.Claim(w.t, w.ex)
			w.note()
		}
		_, _, err = w.ex.AwaitResponse(ctx, enginetest.Brief)
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
		_, err = w.ex.Check(ctx, kit.Patience)
	default:
		_, err = w.ex.Submit(ctx, engine.Submitting{Summary: fmt.Sprint("done ", w.r.IntN(1000)), Verification: "it is green", NoChange: "None is needed."}, kit.Patience)
	}
	if err != nil {
		w.t.Fatalf("in %s: %v", now.Task.State, err)
	}
	w.note()
}

// back rolls back to an entry, any one of them.
func (w *walk) back(files bool) {
	now := enginetest.View(w.t, w.h)
	to := 1 + w.r.Uint64N(now.Task.Seq-1)
	want, present := w.past[to], w.Contents()
	w.rolls[files]++
	var done engine.Done
	var err error
	if files {
		var got engine.Rolled
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
	if diff := cmp.Diff(present, w.Contents()); diff != "" {
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
