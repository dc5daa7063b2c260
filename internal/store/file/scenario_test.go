package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A scenario is one thing done to a machine that has come so far.
type scenario struct {
	name   string
	road   []decision
	act    func(s *Store) (store.Snapshot, error)
	edited map[string]string // views edited before it acts; "" removes one
}

func apply(d decision) func(*Store) (store.Snapshot, error) {
	return func(s *Store) (store.Snapshot, error) { return s.Apply(context.Background(), d) }
}

func renew(s *Store) (store.Snapshot, error) {
	return s.Renew(context.Background(), func(store.Snapshot) (store.Lease, error) { return renewed, nil })
}

var (
	granted = store.Lease{Term: lease.Term{Boot: "b", DeadlineNS: 10, TTLNS: 10}, Until: noon, Heartbeat: noon}
	renewed = store.Lease{Term: lease.Term{Boot: "b", DeadlineNS: 99, TTLNS: 10}, Until: noon, Heartbeat: noon}
)

func text(doc state.Doc, s string) map[state.Doc]string { return map[state.Doc]string{doc: s} }

// scenarios returns one for every event of the machine, and for whatever else touches the disk.
func scenarios() []scenario {
	leased := func(now store.Snapshot) (*store.Change, error) {
		c, err := claim(now)
		if c != nil {
			c.Lease = &granted
		}
		return c, err
	}
	begin := on(state.CreateTask, state.Supervisor, map[state.Doc]string{state.TaskDoc: "Build it.\n", store.GateDoc: "{}"})
	started := on(state.CheckStarted, state.Holder, nil)
	passed := on(state.CheckPassed, state.Engine, nil)
	submit := on(state.Submit, state.Holder, text(state.SubmissionDoc, "Built.\n"))
	approve := on(state.Approve, state.Supervisor, nil)
	consult := on(state.Consult, state.Holder, text(state.ConsultRequestDoc, "How?\n"))
	respond := on(state.RespondConsult, state.Supervisor, text(state.ConsultResponseDoc, "So.\n"))
	ask := on(state.AskHuman, state.Holder, text(state.QuestionDoc, "May I?\n"))
	reject := on(state.Reject, state.Supervisor, text(state.ReviewDoc, "No.\n"))

	laid := func(d decision, lay func(*state.Task)) decision {
		return func(now store.Snapshot) (*store.Change, error) {
			c, err := d(now)
			if err == nil {
				lay(&c.Next)
			}
			return c, err
		}
	}
	delegate := laid(on(state.DelegateStarted, state.Holder, text("DELEGATE.md", "Half of it.\n")),
		func(t *state.Task) { t.SetDelegate(state.Delegate{ID: "d1", Branch: "d1-ab"}) })
	decided := on(state.DelegateDecided, state.Holder, text("DELEGATE.md", "No.\n"))
	fetch := laid(on(state.DelegateMergeStarted, state.Holder, nil), func(t *state.Task) { t.Returning.Of = "d1" })
	fetched := on(state.DelegateMerged, state.Holder, nil)

	working := []decision{begin, leased}
	checked := append(slices.Clip(working), started, passed)
	reviewing := append(slices.Clip(checked), submit)
	again := append(slices.Clip(reviewing), reject, leased, started, passed)
	complete := append(slices.Clip(reviewing), approve)
	and := func(road []decision, more ...decision) []decision { return append(slices.Clip(road), more...) }

	list := []scenario{
		{name: "create_task of some length", act: apply(on(state.CreateTask, state.Human,
			text(state.TaskDoc, strings.Repeat("Build it well. ", 200))))},
		{name: "create_task first", act: apply(begin)},
		{name: "create_task over an old one", road: complete,
			act: apply(on(state.CreateTask, state.Human, text(state.TaskDoc, "Another.\n"), state.SubmissionDoc))},
		{name: "claim", road: working[:1], act: apply(leased)},
		{name: "check_started", road: working, act: apply(started)},
		{name: "check_passed", road: and(working, started), act: apply(passed)},
		{name: "check_failed", road: and(working, started), act: apply(on(state.CheckFailed, state.Engine, nil))},
		{name: "check_void", road: and(working, started), act: apply(on(state.CheckVoid, state.Engine, nil))},
		{name: "submit", road: checked, act: apply(submit)},
		{name: "submit again", road: again, act: apply(on(state.Submit, state.Holder,
			text(state.SubmissionDoc, "Better.\n"), state.ReviewDoc))},
		{name: "progress", road: working, act: apply(progress)},
		{name: "consult", road: working, act: apply(consult)},
		{name: "respond_consult", road: and(working, consult), act: apply(respond)},
		{name: "take_response", road: and(working, consult, respond), act: apply(on(state.TakeResponse, state.Holder, nil))},
		{name: "ask_human", road: working, act: apply(ask)},
		{name: "answer", road: and(working, ask), act: apply(on(state.Answer, state.Human,
			text(state.AnswerDoc, "You may.\n"), state.QuestionDoc))},
		{name: "approve", road: reviewing, act: apply(approve)},
		{name: "reject", road: reviewing, act: apply(reject)},
		{name: "reopen", road: complete, act: apply(on(state.Reopen, state.Human, text(state.ReviewDoc, "More.\n")))},
		{name: "release", road: working, act: apply(on(state.Release, state.Human, nil))},
		{name: "reassign by a rule", road: and(working, started, on(state.CheckFailed, state.Engine, nil)),
			act: apply(byRule(on(state.Reassign, state.Engine, nil)))},
		{name: "fallback", road: reviewing, act: apply(laid(on(state.Fallback, state.Engine, nil),
			func(t *state.Task) {
				t.SetStandIn(state.StandIn{Duty: "reviewer", Agent: "gemini", For: "codex", Why: "has reached its limit"})
			}))},
		{name: "accept_config", road: working, act: apply(on(state.AcceptConfig, state.Human, text(store.GateDoc, `{"a":1}`)))},
		{name: "rollback_started", road: reviewing, act: apply(on(state.RollbackBegun, state.Human, nil))},
		{name: "rollback", road: reviewing, act: apply(on(state.Rollback, state.Human, nil, state.SubmissionDoc))},
		{name: "branch", road: working, act: apply(on(state.Branch, state.Human, nil))},
		{name: "steer", road: working, act: apply(on(state.Steer, state.Human, nil))},
		{name: "tell", road: working, act: apply(on(state.Tell, state.Supervisor, nil))},
		{name: "select", road: complete, act: apply(on(state.Select, state.Human, nil))},
		{name: "scored", road: checked, act: apply(on(state.Scored, state.Engine, nil))},
		{name: "merge_started", road: complete, act: apply(on(state.MergeBegun, state.Human, nil))},
		{name: "merge", road: working, act: apply(on(state.Merge, state.Human, text(state.SubmissionDoc, "Built elsewhere.\n")))},
		{name: "delegate_started", road: working, act: apply(delegate)},
		{name: "delegate_decided", road: and(working, delegate), act: apply(decided)},
		{name: "delegate_merge_started", road: and(working, delegate, decided), act: apply(fetch)},
		{name: "delegate_merged", road: and(working, delegate, decided, fetch), act: apply(fetched)},
		{name: "delegate_done", road: and(working, delegate, decided, fetch, fetched), act: apply(laid(on(state.DelegateDone, state.Engine, nil),
			func(t *state.Task) {
				t.SetDelegate(state.Delegate{ID: "d1", Branch: "d1-ab", Ended: state.DelegateComplete})
			}))},
		{name: "reset", road: again, act: apply(on(state.Reset, state.Human, nil,
			state.TaskDoc, state.SubmissionDoc, state.ReviewDoc))},
		{name: "repair", road: working, act: apply(on(state.Repair, state.Engine, nil))},
		{name: "renewal", road: working, act: renew},
		{name: "view", road: reviewing, act: (*Store).View},
		{name: "violation", road: reviewing, act: apply(approve), edited: map[string]string{
			string(state.TaskDoc): "Do nothing.\n", string(state.SubmissionDoc): "", stateFile: "{}\n"}},
		{name: "renewal after a violation", road: working, act: renew, edited: map[string]string{
			string(state.TaskDoc): "Do nothing.\n"}},
	}
	return list
}

// byRule is a decision that names its rule.
func byRule(d decision) decision {
	return func(now store.Snapshot) (*store.Change, error) {
		c, err := d(now)
		if err == nil {
			c.Rule = `on submit when paths = ["docs/**"] then approve`
		}
		return c, err
	}
}

// scenarioOf returns one scenario by its name.
func scenarioOf(t testing.TB, name string) scenario {
	t.Helper()
	for _, sc := range scenarios() {
		if sc.name == name {
			return sc
		}
	}
	t.Fatalf("no scenario %s", name)
	return scenario{}
}

// A folder is the content of a machine's files, by name.
type folder map[string]string

// A start is how the disk is when a scenario begins.
type start struct {
	name  string
	disk  *simdisk
	loose bool // the newest line was not synced
}

// along goes the road of a scenario, and returns the disk before the last event of it and after. dir has the lock.
func along(t testing.TB, sc scenario, dir string) (before, after *simdisk) {
	t.Helper()
	after = newSimdisk(t, dir)
	opts := still()
	opts.disk = after.over
	s := must2(Create(dir, opts))
	before = after.clone()
	for _, d := range sc.road {
		before = after.clone()
		do(t, s, d)
	}
	return before, after
}

// edit makes a scenario's edits, durably.
func (sc scenario) edit(d *simdisk) {
	d.settle()
	for name, edited := range sc.edited {
		if edited == "" {
			must(0, d.remove(name))
			continue
		}
		d.put(name, edited)
	}
	d.settle()
}

// starts returns the clean start of a scenario and those that a crash may have left.
func starts(t testing.TB, sc scenario, dir string) []start {
	t.Helper()
	before, clean := along(t, sc, dir)
	sc.edit(clean)
	if sc.edited != nil {
		return []start{{"clean", clean, false}} // an edit and a crash together are tried by the simulated power cut
	}
	before.settle()
	synced, journal := before.peek(journalFile), clean.peek(journalFile)
	lagging, bare := before.clone(), before.clone()
	lagging.put(journalFile, synced, journal+`{"v":2,"seq":`)
	lagging.put(stateFile+".tmp", lagging.peek(stateFile)) // and what it lags by was about to be removed
	bare.plain = true
	must(0, bare.remove(stateFile))
	bare.put(journalFile, synced, journal)
	return []start{{"clean", clean, false}, {"lagging", lagging, true}, {"no STATE.json", bare, len(sc.road) > 0}}
}

// pack reads the files of a folder, without what lies in folders below.
func pack(t testing.TB, dir string) folder {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := folder{}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files[e.Name()] = read(t, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// sound reads the whole machine and says what is wrong with it: nothing may contradict the journal.
func sound(s *Store) (snap store.Snapshot, lines []*store.Line, err error) {
	// A view that was edited is found by the next event, and put back.
	if snap, err = s.Apply(context.Background(), nothing); err != nil {
		return snap, nil, err
	}
	viewed, err := s.View()
	if err != nil || viewed.Journal != snap.Journal {
		return snap, nil, fmt.Errorf("View has %+v, Apply %+v (%v)", viewed.Journal, snap.Journal, err)
	}
	for l, err := range s.History() {
		if err != nil {
			return snap, nil, err
		}
		if lines = append(lines, l); l.Seq != uint64(len(lines)) {
			return snap, nil, fmt.Errorf("line %d has seq %d", len(lines), l.Seq)
		}
	}
	if int(snap.Task.Seq) != len(lines) {
		return snap, nil, fmt.Errorf("the view has seq %d, the history %d", snap.Task.Seq, len(lines))
	}
	for _, doc := range state.Docs() {
		want := textIn(lines, doc, snap.Task.Docs[doc])
		if got, _ := slurp(s.disk, string(doc), maxIndex); string(got) != want {
			return snap, nil, fmt.Errorf("%s is %q, the journal has %q", doc, got, want)
		}
	}
	raw, err := slurp(s.disk, stateFile, maxIndex)
	if idx := parseIndex(raw); err != nil || idx.Journal != snap.Journal || !idx.shows(snap.Task) {
		return snap, nil, fmt.Errorf("STATE.json does not show the newest line (%v)", err)
	}
	return snap, lines, nil
}

func nothing(store.Snapshot) (*store.Change, error) { return nil, nil }

func textIn(lines []*store.Line, doc state.Doc, ref state.Ref) string {
	for _, l := range lines {
		if l.Off == ref.Off && ref.SHA256 != "" {
			return l.Docs[doc]
		}
	}
	return ""
}
