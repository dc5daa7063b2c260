package engine_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/test/kit"

	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A model is what the table says about a task in the hands of two executors: pure, and all that a history may depend on.
type model struct {
	task   state.Task
	events []state.Event
	lim    state.Limits // pinned
	file   int          // max_review_cycles in ferrus.toml

	holder int           // 0 nobody, 1 or 2 an executor, gone one whose process has ended
	now    time.Duration // since the beginning
	due    time.Duration // when the lease runs out
	undate bool          // nobody knows any more
	was    int           // from whom a rule took the work; its process has not ended since

	red, broken bool // how the gate would judge
	same, errs  int  // how often in a row it failed alike, or could not run
}

const (
	gone          = -1
	modelRetries  = 4
	modelSame     = 3
	modelRule     = 2
	modelTTL      = 90 * time.Second
	modelCycles   = 2
	modelOtherMax = 10
)

// raise is the event by the role, if the table has it.
func (m *model) raise(ev state.Event, by state.Role) bool {
	next, err := state.Step(m.task, ev, by, m.lim)
	if err != nil {
		return false
	}
	resumed := len(next.Paused) < len(m.task.Paused) || m.task.Waits() && !next.Waits()
	m.task, m.events = next, append(m.events, ev)
	if by == state.Holder || resumed || ev == state.Claim {
		m.due, m.undate = m.now+modelTTL, false
	}
	switch ev {
	case state.Violation:
		m.undate = true
	case state.Answer, state.Reopen:
		m.same, m.errs = 0, 0
	case state.CreateTask:
		m.same, m.errs, m.lim = 0, 0, state.Limits{CheckRetries: modelRetries, ReviewCycles: m.file}
		m.task.TaskID = "t"
	case state.AcceptConfig:
		m.lim.ReviewCycles = m.file
	}
	return true
}

// as is the role in which an executor meets the task.
func (m *model) as(who int) state.Role {
	if m.task.ClaimedBy != "" && m.holder == who {
		return state.Holder
	}
	return state.Executor
}

func (m *model) claim(who int) bool {
	if m.as(who) == state.Holder {
		return true
	}
	free := m.task.ClaimedBy == "" || m.holder == gone || !m.undate && m.now >= m.due && !m.task.Waits()
	if free && m.task.Assigned.Agent != "" && m.was == who {
		return false
	}
	if !free || !m.raise(state.Claim, state.Executor) {
		if m.undate {
			m.due, m.undate = m.now+modelTTL, false // from now on
		}
		return false
	}
	m.holder, m.task.ClaimedBy = who, agents[who]
	return true
}

func (m *model) check(who int) (ok, green bool) {
	if !m.raise(state.CheckStarted, m.as(who)) {
		return false, false
	}
	switch {
	case m.broken:
		m.raise(state.CheckVoid, state.Engine)
		m.errs++
		m.follow(m.errs >= engine.MaxGateErrors, m.errs >= modelRule, false)
	case m.red:
		m.raise(state.CheckFailed, state.Engine)
		m.same, m.errs = m.same+1, 0
		m.follow(m.same >= modelSame, m.same >= modelRule, m.task.Assigned.Agent == "")
	default:
		m.raise(state.CheckPassed, state.Engine)
		m.same, m.errs, green = 0, 0, true
	}
	return true, green
}

// follow is what the rules of modelToml, and the defaults before them, make of a check. The table refuses them all in Failed.
func (m *model) follow(ask, rule, reassign bool) {
	switch {
	case ask:
		m.raise(state.AskHuman, state.Engine)
	case rule && reassign:
		if m.raise(state.Reassign, state.Engine) {
			m.was, m.holder, m.task.Assigned.Agent = m.holder, 0, "claude-code"
		}
	case rule:
		m.raise(state.Consult, state.Engine)
	}
}

func (m *model) submit(who int) bool {
	if m.as(who) != state.Holder || !m.task.State.InHand() {
		return m.raise(state.Submit, m.as(who))
	}
	ok, green := m.check(who) // without git the gate always runs
	return ok && (!green || m.raise(state.Submit, state.Holder))
}

func (m *model) take(who int) bool {
	return m.raise(state.TakeResponse, m.as(who))
}

func (m *model) accept() bool {
	if m.task.TaskID != "" && m.lim.ReviewCycles == m.file && m.task.Assigned.Agent == "" {
		return true
	}
	return m.raise(state.AcceptConfig, state.Human)
}

func (m *model) answer() bool {
	if m.task.State == state.Consultation {
		return m.raise(state.RespondConsult, state.Human)
	}
	return m.raise(state.Answer, state.Human)
}

var agents = []string{"", "executor:codex:1", "executor:qwen:1"}

var errNothing = errors.New("nothing to be had")

// A player has real processes beside the model.
type player struct {
	*enginetest.Machine
	t     *testing.T
	clock *enginetest.Dial
	ex    [3]*engine.Session
	sup   *engine.Session
	human *engine.Session
	n     int // makes every text another
}

func newPlayer(t *testing.T) *player {
	w := &player{Machine: enginetest.Plain(t, modelToml(modelCycles)), t: t}
	w.clock = w.Clocked()
	w.Machine.Write("ferrus.toml", modelToml(modelCycles))
	w.ex[1], w.ex[2] = w.Executor("codex"), w.Executor("qwen")
	w.sup, w.human = w.Supervisor(), w.Machine.Human()
	return w
}

func modelToml(cycles int) string {
	return enginetest.Gate("test ! -e broken || exit 127; test ! -e red") + fmt.Sprintf("[limits]\nmax_check_retries = %d\nmax_review_cycles = %d\nmax_same_failure = %d\nmax_messages = 1000\n",
		modelRetries, cycles, modelSame) + fmt.Sprintf(`
[[rules]]
on = "check_failed"
when = { same = %[1]d }
then = "executor claude-code:opus"
[[rules]]
on = "check_failed"
when = { same = %[1]d }
then = "consult"
[[rules]]
on = "check_void"
when = { errors = %[1]d }
then = "consult"
`, modelRule)
}

func (w *player) text() string { w.n++; return "text " + strconv.Itoa(w.n) }

// A play is something that somebody may do: to the model, which says whether it may be, and to the engine.
type play struct {
	name  string
	model func(m *model) bool
	do    func(w *player) error
}

func plays() []play {
	list := []play{
		{"sup create", func(m *model) bool { return m.raise(state.CreateTask, state.Supervisor) },
			func(w *player) error { return enginetest.Second(w.sup.CreateTask(enginetest.Background, w.text(), "")) }},
		{"human create", func(m *model) bool { return m.raise(state.CreateTask, state.Human) },
			func(w *player) error {
				return enginetest.Second(w.human.CreateTask(enginetest.Background, w.text(), ""))
			}},
		{"sup respond", func(m *model) bool { return m.raise(state.RespondConsult, state.Supervisor) },
			func(w *player) error {
				_, err := w.sup.AwaitReview(enginetest.Background, 0)
				return errors.Join(err, enginetest.Second(w.sup.Respond(enginetest.Background, w.text(), "")))
			}},
		{"sup ask", func(m *model) bool { return m.raise(state.AskHuman, state.Supervisor) },
			func(w *player) error { return enginetest.Second(w.sup.AskHuman(enginetest.Background, w.text(), nil)) }},
		{"sup approve", func(m *model) bool { return m.raise(state.Approve, state.Supervisor) }, w(func(w *player) error {
			return enginetest.Second(w.sup.Approve(enginetest.Background, w.text(), ""))
		})},
		{"sup reject", func(m *model) bool { return m.raise(state.Reject, state.Supervisor) }, w(func(w *player) error {
			return enginetest.Second(w.sup.Reject(enginetest.Background, w.text(), ""))
		})},
		{"human approve", func(m *model) bool { return m.raise(state.Approve, state.Human) },
			func(w *player) error { return enginetest.Second(w.human.Approve(enginetest.Background, w.text(), "")) }},
		{"human reject", func(m *model) bool { return m.raise(state.Reject, state.Human) },
			func(w *player) error { return enginetest.Second(w.human.Reject(enginetest.Background, w.text(), "")) }},
		{"answer", (*model).answer, func(w *player) error { return enginetest.Second(w.human.Answer(enginetest.Background, "", w.text())) }},
		{"reopen", func(m *model) bool { return m.raise(state.Reopen, state.Human) },
			func(w *player) error { return enginetest.Second(w.human.Reopen(enginetest.Background, w.text())) }},
		{"steer", func(m *model) bool { return m.raise(state.Steer, state.Human) },
			func(w *player) error { return enginetest.Second(w.human.Steer(enginetest.Background, w.text())) }},
		{"sup tell", func(m *model) bool { return m.raise(state.Tell, state.Supervisor) },
			func(w *player) error {
				return enginetest.Second(w.sup.Tell(enginetest.Background, "executor", w.text()))
			}},
		{"release", func(m *model) bool { return m.raise(state.Release, state.Human) },
			func(w *player) error { return enginetest.Second(w.human.Release(enginetest.Background, w.text())) }},
		{"reset", func(m *model) bool { return m.raise(state.Reset, state.Human) },
			func(w *player) error { return enginetest.Second(w.human.Reset(enginetest.Background, w.text())) }},
		{"accept", (*model).accept, func(w *player) error { _, _, err := w.human.AcceptConfig(enginetest.Background); return err }},

		{"edit STATE.json", func(m *model) bool { return m.raise(state.Violation, state.Engine) }, func(w *player) error {
			w.Write(".ferrus/STATE.json", fmt.Sprintf(`{"state":"Complete","n":%q}`, w.text()))
			return enginetest.Second(w.human.Engine().View())
		}},
		{"time passes", func(m *model) bool { m.now += modelTTL; return true },
			func(w *player) error { w.clock.Pass(modelTTL); return nil }},
		{"edit ferrus.toml", func(m *model) bool { m.file = modelCycles + modelOtherMax - m.file; return true }, func(w *player) error {
			if w.Read("ferrus.toml") == modelToml(modelCycles) {
				w.Write("ferrus.toml", modelToml(modelOtherMax))
			} else {
				w.Write("ferrus.toml", modelToml(modelCycles))
			}
			return nil
		}},
		{"red", func(m *model) bool { m.red = !m.red; return true }, func(w *player) error { return w.toggle("red") }},
		{"broken", func(m *model) bool { m.broken = !m.broken; return true }, func(w *player) error { return w.toggle("broken") }},
	}
	for who := 1; who <= 2; who++ {
		name := agents[who] + " "
		list = append(list, []play{
			{name + "claim", func(m *model) bool { return m.claim(who) }, func(w *player) error {
				got, _, err := w.ex[who].AwaitTask(enginetest.Background, 0, true)
				if got == nil && err == nil {
					err = errNothing
				}
				return err
			}},
			{name + "check", func(m *model) bool { ok, _ := m.check(who); return ok },
				func(w *player) error {
					return enginetest.Second(w.ex[who].Check(enginetest.Background, kit.Patience))
				}},
			{name + "submit", func(m *model) bool { return m.submit(who) },
				func(w *player) error {
					return enginetest.Second(w.ex[who].Submit(enginetest.Background, engine.Submitting{Summary: w.text(), Verification: "v", NoChange: "None is needed."}, kit.Patience))
				}},
			{name + "progress", func(m *model) bool { return m.raise(state.Progress, m.as(who)) },
				func(w *player) error { return enginetest.Second(w.ex[who].Progress(enginetest.Background, w.text())) }},
			{name + "tell", func(m *model) bool { return m.raise(state.Tell, m.as(who)) },
				func(w *player) error {
					return enginetest.Second(w.ex[who].Tell(enginetest.Background, "supervisor", w.text()))
				}},
			{name + "consult", func(m *model) bool { return m.raise(state.Consult, m.as(who)) }, func(w *player) error {
				return enginetest.Second(w.ex[who].Consult(enginetest.Background, engine.Consulting{Problem: "p", Tried: "t", Question: w.text()}))
			}},
			{name + "ask", func(m *model) bool { return m.raise(state.AskHuman, m.as(who)) },
				func(w *player) error {
					return enginetest.Second(w.ex[who].AskHuman(enginetest.Background, w.text(), nil))
				}},
			{name + "take", func(m *model) bool { return m.take(who) }, func(w *player) error {
				done, ok, err := w.ex[who].AwaitResponse(enginetest.Background, 0)
				if err == nil && (!ok || done.Repeated) {
					err = errNothing
				}
				return err
			}},
			{name + "dies", func(m *model) bool {
				if m.holder == who {
					m.holder = gone
				}
				if m.was == who {
					m.was = 0
				}
				return true
			}, func(w *player) error {
				enginetest.Dies(w.t, w.ex[who])
				w.ex[who] = w.Engine().Session(engine.Caller{Role: state.Executor, Agent: agents[who]})
				return nil
			}},
		}...)
	}
	return list
}

// w shows the supervisor the submission first.
func w(decide func(w *player) error) func(w *player) error {
	return func(w *player) error {
		_, _, err := w.sup.Review(enginetest.Background)
		return errors.Join(err, decide(w))
	}
}

func (w *player) toggle(name string) error {
	if w.Exists(name) {
		return os.Remove(w.Path(name))
	}
	w.Write(name, "")
	return nil
}

// rare are the plays that any state allows and that undo what others have done: how many others each counts for.
var rare = map[string]int{"reset": 8, "release": 8, "time passes": 8, "edit STATE.json": 8, "edit ferrus.toml": 8, "red": 2, "broken": 2,
	agents[1] + " dies": 8, agents[2] + " dies": 8}

// step makes one play, mostly one that may be, and of those rather one that has been made seldom.
func (w *player) step(rt *rapid.T, m *model, all []play, used map[string]int) {
	stray := rapid.IntRange(0, 5).Draw(rt, "stray") == 5
	var can []play
	for _, p := range all {
		try := m.copied()
		if p.model(&try) != stray {
			can = append(can, p)
		}
	}
	sort.SliceStable(can, func(i, j int) bool { return used[can[i].name] < used[can[j].name] })
	seldom := len(can)
	if !stray && rapid.IntRange(0, 9).Draw(rt, "any") != 9 {
		seldom = min(2, len(can))
	}
	p := can[rapid.IntRange(0, seldom-1).Draw(rt, "play")]
	used[p.name] += max(1, rare[p.name])
	before := m.copied()
	want := p.model(m)
	if !want {
		before.due, before.undate = m.due, m.undate
		*m = before // a play may begin and then be refused
	}
	rt.Log(p.name)
	err := p.do(w)
	if (err == nil) != want {
		rt.Fatalf("%s in %s: %v, the model says %v", p.name, before.task.State, err, want)
	}
	w.compare(rt, m, p.name)
}

func (m *model) copied() model {
	c := *m
	c.task, c.events = m.task.Clone(), slices.Clip(m.events)
	return c
}

// compare is the machine against the model.
func (w *player) compare(rt *rapid.T, m *model, after string) {
	snap, err := w.human.Engine().View()
	if err != nil {
		rt.Fatal(err)
	}
	facts := func(t state.Task) string {
		text := fmt.Sprintf("%s epoch %d retries %d cycles %d held by %q answered %v edits %d", t.State, t.Epoch, t.CheckRetries, t.ReviewCycles,
			t.ClaimedBy, t.Consultation.Answered, t.Violations)
		for _, p := range t.Paused {
			text += fmt.Sprintf(" %s<-%s", p.State, p.Kind)
		}
		return text
	}
	if got, want := facts(snap.Task), facts(m.task); got != want || int(snap.Task.Seq) != len(m.events) {
		rt.Fatalf("after %s:\n%s, seq %d, the model has\n%s, seq %d", after, got, snap.Task.Seq, want, len(m.events))
	}
}

// TestTheEngineDoesWhatTheTableSays: two executors, a supervisor and a person, in processes of their own, do what they
// like, and what comes of it is what the model has.
func TestTheEngineDoesWhatTheTableSays(t *testing.T) {
	enginetest.InFiles(t, "it makes more machines than a server has connections for")
	t.Parallel()
	checks := enginetest.Most(3, 50)
	switch {
	case testing.Short():
		checks = 5 // of which rapid makes a fifth
	case !kit.Named():
		checks = 1
	}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		enginetest.Must(0, f.Value.Set(strconv.Itoa(checks)))(t)
		defer f.Value.Set(f.DefValue)
	}
	happened := map[state.Event]int{}
	for range 20 { // rarely more than twice
		rapid.Check(t, func(rt *rapid.T) { playOn(t, rt, happened) })
		if kit.Quick() || len(missing(happened)) == 0 {
			t.Log(happened)
			return
		}
	}
	t.Errorf("%v never happened", missing(happened))
}

// playOn is one task's worth of plays.
func playOn(t *testing.T, rt *rapid.T, happened map[state.Event]int) {
	w, all, used := newPlayer(t), plays(), map[string]int{}
	m := &model{task: state.New(), file: modelCycles}
	for range 150 {
		w.step(rt, m, all, used)
	}
	var events []state.Event
	for _, l := range enginetest.History(t, w.human.Engine()) {
		events = append(events, l.Event)
		happened[l.Event]++
	}
	if !slices.Equal(events, m.events) {
		rt.Fatalf("the journal has\n%v, the model\n%v", events, m.events)
	}
}

// missing are the events that never happened and should have.
func missing(happened map[state.Event]int) (list []state.Event) {
	for _, ev := range state.Events() {
		if !slices.Contains([]state.Event{state.RollbackBegun, state.Rollback, state.Branch, state.Select, state.Scored, state.Fallback, state.MergeBegun, state.Merge, state.Repair,
			state.DelegateStarted, state.DelegateDecided, state.DelegateMergeStarted, state.DelegateMerged, state.DelegateDone}, ev) && happened[ev] == 0 {
			list = append(list, ev)
		}
	}
	return list
}
