package pipeline

import (
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// A play is what a worker does with one attempt. The zero one works for a minute and leaves its output.
type play struct {
	takes  time.Duration // from when its inputs are there
	silent bool          // it leaves no output
	exit   int
	killed bool                   // its shim, too: there is no end in its record
	hangs  bool                   // it never ends by itself
	half   bool                   // it leaves half an output
	late   time.Duration          // the output comes so long after the end
	sends  bool                   // it says that it sent the result
	turn   func(*Dialogue) string // what becomes of the dialogue
}

// A tester is a test, or one case of a property.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Error(...any)
	Errorf(string, ...any)
}

// A world runs a pipeline without a process: it does what is decided, and its clock jumps to what happens next.
type world struct {
	t        tester
	w        workflow.Workflow
	status   Status
	now      time.Time
	woke     time.Time
	files    map[string]File
	texts    map[string]string
	procs    map[string]*proc
	talk     Talk
	delivery Delivery
	intent   Intent
	plays    map[string][]play // by role, one for each attempt; the last goes on
	session  func(role string, attempt int) string

	sent, archived int
	told           []string
	rows           []string
	did            []Action
	most           int // agents at a time
	spawns         map[string]int
	partial        bool
}

// A proc is a worker's newest attempt.
type proc struct {
	Seen
	play
	ends    time.Time // zero while it waits
	written bool
}

func newWorld(t tester, w workflow.Workflow) *world {
	return &world{t: t, w: w, now: noon, status: New(w, "research-180141", "FSA architecture", noon), files: map[string]File{},
		texts: map[string]string{}, procs: map[string]*proc{}, plays: map[string][]play{}, spawns: map[string]int{},
		session: func(role string, n int) string { return fmt.Sprintf("s-%s-%d", role, n) }}
}

func (w *world) write(file, text string) {
	w.files[file] = File{Bytes: int64(len(text)), SHA256: "sha:" + text, Settled: true, First: text}
	w.texts[file] = text
}

func (w *world) facts() Facts {
	f := Facts{Workflow: w.w, Status: w.status, Files: w.files, Workers: map[string]Seen{}, Delivery: w.delivery, Intent: w.intent,
		Talk: w.talk, Now: w.now, Woke: w.woke}
	for role, p := range w.procs {
		f.Workers[role] = p.Seen
	}
	return f
}

// tick is what every trigger does: reconcile, decide, do, until there is nothing to do. It returns the wait.
func (w *world) tick() Action {
	w.t.Helper()
	w.live()
	for range 200 {
		w.status = Reconcile(w.facts())
		if again := Reconcile(w.facts()); again.Rev != w.status.Rev {
			w.t.Fatalf("it is brought up to date twice:\n%+v\n%+v", w.status, again)
		}
		a := Decide(w.facts())
		w.rows = append(w.rows, a.Row)
		if a.Tell != "" {
			w.told = append(w.told, a.Tell)
		}
		if a.Do == Wait {
			if after := w.status.After(a, w.now); after.Rev != w.status.Rev { // S0-17
				w.t.Fatal("a wait writes")
			}
			return a
		}
		w.did = append(w.did, a)
		w.do(a)
		w.status = w.status.After(a, w.now)
		if w.archived > 0 {
			return a
		}
	}
	w.t.Fatalf("it does not come to rest: %q", w.rows[len(w.rows)-20:])
	return Action{}
}

// do has the action done.
func (w *world) do(a Action) {
	switch a.Do {
	case Start, Restart, Turn:
		w.putAside(a.Aside)
		for _, role := range a.Roles {
			w.spawn(role)
		}
	case Kill, Cancel, FailWorker, Retry:
		for _, role := range a.Roles {
			if p := w.procs[role]; p != nil && p.Alive {
				p.Alive, p.ends = false, time.Time{}
			}
		}
		w.putAside(a.Aside)
	case Deliver, Watchdog:
		w.sent++
		w.partial = a.Do == Watchdog
		w.delivery = Delivery{State: Delivered, At: w.now, By: "ferrus"}
	case Confirm:
		w.delivery.State, w.delivery.At = Delivered, w.now
	case Settle:
		w.delivery.State = Uncertain
	case Archive:
		w.archived++
	case Close:
		w.write(a.File, string(a.Text))
	}
	if a.Text != nil && a.Do != Close {
		w.talk = Talk{Base: a.Text, Text: a.Text}
	}
	if w.intent.Verb == a.Do || w.intent.Verb == Again && a.Do == Deliver || w.intent.Verb == Resume && a.Do == Accept {
		w.intent = Intent{}
	}
}
