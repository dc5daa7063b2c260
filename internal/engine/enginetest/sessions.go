package enginetest

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

func (p *Machine) Engine() *engine.Engine {
	p.T.Helper()
	e, err := engine.Open(project.At(cmp.Or(p.Root, p.Dir), p.Branch), p.Opts)
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() { e.Close() })
	return e
}

// Each of these is a process of its own.
func (p *Machine) Executor(name string) *engine.Session {
	p.T.Helper()
	return p.Engine().Session(engine.Caller{Role: state.Executor, Agent: "executor:" + name + ":1"})
}

func (p *Machine) Supervisor() *engine.Session {
	p.T.Helper()
	return p.Engine().Session(engine.Caller{Role: state.Supervisor, Agent: "supervisor:claude:1"})
}

func (p *Machine) Human() *engine.Session {
	p.T.Helper()
	return p.Engine().Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
}

// AllKept waits until the files of every entry are saved that these have made. Another process does not wait for them.
func AllKept(sessions ...*engine.Session) {
	for _, s := range sessions {
		s.Engine().Settle()
	}
}

// Dies ends the process of a session as SIGKILL would: its lock is free, and nothing of it goes on.
func Dies(t testing.TB, s *engine.Session) {
	t.Helper()
	s.Engine().Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Begun has a task that an executor holds.
func (p *Machine) Begun() (sup, ex *engine.Session) {
	p.T.Helper()
	sup, ex = p.Supervisor(), p.Executor("codex")
	Must(sup.CreateTask(p.T.Context(), "Build it.", ""))(p.T)
	Claim(p.T, ex)
	return sup, ex
}

func Claim(t testing.TB, s *engine.Session) *engine.Claimed {
	t.Helper()
	var got *engine.Claimed
	var snap store.Snapshot
	err := branch.WithFiles(t.Context(), s, func() (err error) {
		got, snap, err = s.AwaitTask(t.Context(), kit.Patience, false)
		return err
	})
	if err != nil || got == nil {
		t.Fatalf("%s claims nothing in %s: %v", s.Agent, snap.Task.State, rootfs.Cause(err))
	}
	return got
}

func View(t testing.TB, s *engine.Session) store.Snapshot {
	t.Helper()
	return Must(s.Engine().View())(t)
}

func WantState(t testing.TB, s *engine.Session, want state.State) store.Snapshot {
	t.Helper()
	snap := View(t, s)
	if snap.Task.State != want {
		t.Fatalf("the task is %s, want %s", snap.Task.State, want)
	}
	return snap
}

// Check runs the gate to its end.
func Check(t testing.TB, s *engine.Session, want state.CheckStatus) engine.Checked {
	t.Helper()
	out := Must(s.Check(t.Context(), kit.Patience))(t)
	if out.Status != want {
		t.Fatalf("check %s ended %s, want %s (%s %+v)", out.ID, out.Status, want, out.Err, out.Failures)
	}
	return out
}

var Work = engine.Submitting{Summary: "Built it.", Verification: "Ran it.", NoChange: "None is needed."}

func Submitted(t testing.TB, s *engine.Session) engine.Submitted {
	t.Helper()
	out := Must(s.Submit(t.Context(), Work, kit.Patience))(t)
	if !out.Accepted {
		t.Fatalf("not submitted: the gate ended %s", out.Gate.Status)
	}
	return out
}

// Reviewing has a submission that a supervisor has been shown.
func (p *Machine) Reviewing() (sup, ex *engine.Session) {
	p.T.Helper()
	sup, ex = p.Begun()
	Submitted(p.T, ex)
	Must2(sup.Review(p.T.Context()))(p.T)
	return sup, ex
}

// History is the whole journal, which must be sound.
func History(t testing.TB, e *engine.Engine) []*store.Line {
	t.Helper()
	var lines []*store.Line
	for l, err := range e.Store().History() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func Count(t testing.TB, e *engine.Engine, ev state.Event) int {
	t.Helper()
	n := 0
	for _, l := range History(t, e) {
		if l.Event == ev {
			n++
		}
	}
	return n
}

// Unchanged is the machine as the journal and its views have it; comparing two shows that nothing happened between.
func Unchanged(t testing.TB, s *engine.Session) func() {
	t.Helper()
	before := View(t, s).Journal
	return func() {
		t.Helper()
		if now := View(t, s).Journal; now != before {
			t.Errorf("the journal went from %d to %d bytes", before.Bytes, now.Bytes)
		}
	}
}

// Accept changes the gate of the task as a person would.
func (p *Machine) Accept(commands ...string) {
	p.T.Helper()
	p.Write("ferrus.toml", Gate(commands...)+`ignore = ["*.log", "ferrus.toml"]`)
	h := p.Human()
	if _, _, err := h.AcceptConfig(p.T.Context()); err != nil {
		p.T.Fatal(err)
	}
}

func (p *Machine) Runs() int {
	data, _ := os.ReadFile(p.Path(p.Side + "/runs"))
	return strings.Count(string(data), "\n")
}

func (p *Machine) LetGo() { p.Write(p.Side+"/go", "") }

// Rolled rolls the task back, which must work.
func Rolled(t testing.TB, h *engine.Session, to uint64) engine.Done {
	t.Helper()
	return Must(h.Rollback(t.Context(), to, "It went astray."))(t)
}
