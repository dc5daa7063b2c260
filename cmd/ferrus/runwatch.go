package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/hq"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A watcher shows a run while it goes: plain lines of what happens, and on a terminal, below them, one live line an
// agent. It also takes the answers that are typed there.
type watcher struct {
	footer
	a        *app
	s        *engine.Session
	headless bool
	live     bool // on a terminal

	mu    sync.Mutex
	open  string // the question that may be answered by typing
	reads bool   // stdin is being read
}

func (a *app) watcher(s *engine.Session, headless bool) *watcher {
	return &watcher{footer: footer{on: a}, a: a, s: s, headless: headless, live: a.outTTY && !a.json}
}

// close takes the live lines away.
func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.erase()
	w.live = false
}

// tell shows what has happened.
func (w *watcher) tell(e hq.Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.a.json {
		_ = w.a.printLine(e)
		return
	}
	w.erase()
	w.a.say("%s  %s\n", clock(e.At), w.words(e))
	if e.Kind == hq.Moved { // nothing else closes a question: who has asked may well end while it is open
		w.open = ""
	}
	if e.Kind != hq.Asked || w.headless {
		return // the end of a headless run shows it
	}
	text, list := engine.SplitOptions(e.Text)
	text, _ = head(text, maxShown)
	w.a.say("%s\n", framed(text, "          "))
	for _, o := range list {
		w.a.say("          %s%s\n", bar, line(o))
	}
	w.open = e.Run
	w.a.say("          %s\n", w.a.paint(bold, w.a.commands("type the answer, or a number; or use ferrus answer in another terminal")))
	w.read()
}

// words is an event in a line.
func (w *watcher) words(e hq.Event) ink {
	duty := w.a.paint(roleColour[e.Duty.Role()], fmt.Sprintf("%-12s", e.Run))
	switch e.Kind {
	case hq.Moved:
		text := w.a.paint(stateOr(e.State), string(e.State))
		if e.Text != "" {
			text += w.a.paint("", "  "+clip(line(e.Text), 70))
		}
		return text
	case hq.Found:
		return duty + w.a.paint("", "  "+e.Agent+" is at work already")
	case hq.Started:
		return duty + w.a.paint("", "  "+e.Agent+" started")
	case hq.Ending:
		return duty + w.a.paint("", "  is ended: "+line(e.Text))
	case hq.Ended:
		r := e.Ended
		text := fmt.Sprintf("  %s ended after %s%s", e.Agent, span(r.Lasted(time.Now())), how(*r))
		if u := used(r.Usage); u != "" {
			text += ", " + u
		}
		return duty + w.a.paint("", text)
	case hq.Parked:
		return w.a.paint(yellow, fmt.Sprintf("waiting until %s: %s", clock(e.Until), line(e.Text)))
	case hq.Asked:
		return w.a.paint(yellow, "question "+e.Run+" from "+e.Agent)
	case hq.Stopping:
		return ink("stopping: the agents are ended")
	}
	return ink(string(e.Kind))
}

// read takes lines from the terminal for as long as the program runs, and answers what is open with them.
func (w *watcher) read() {
	if w.reads || !w.a.inTTY {
		return
	}
	w.reads = true
	go func() {
		for lines := bufio.NewScanner(w.a.in); lines.Scan(); {
			text := strings.TrimSpace(lines.Text())
			w.mu.Lock()
			open := w.open
			w.mu.Unlock()
			if text == "" || open == "" {
				continue
			}
			if _, err := w.s.Answer(context.Background(), open, text); err != nil {
				f := explain(failed("answer", "", err))
				w.mu.Lock()
				w.erase()
				w.a.say("          %s\n", line(f.Message+"; "+w.a.commands(f.Remedy)))
				w.mu.Unlock()
			}
		}
	}()
}

// show draws the live lines.
func (w *watcher) show(v hq.View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.live {
		return
	}
	t := v.Task
	head := fmt.Sprintf("%-13s %s", t.State, clip(line(t.Title), 50))
	if !t.Since.IsZero() {
		head += "  for " + span(v.Now.Sub(t.Since))
	}
	if s := cost(v.Total); s != "" {
		head += "  (" + s + ")"
	}
	if v.Act.Do == "park" && !v.Act.Until.IsZero() {
		head += fmt.Sprintf("  waiting %s: %s", span(v.Act.Until.Sub(v.Now)), line(v.Act.Why))
	}
	rows, colours := []string{head}, []string{bold}
	for _, a := range v.Agents {
		text := fmt.Sprintf("%-12s %-11s %8s", a.Run.Name, a.Run.Agent, span(a.Run.Lasted(v.Now)))
		if u := used(a.Run.Usage); u != "" {
			text += "  " + u
		}
		if a.Doing != "" {
			text += "  " + line(a.Doing)
		}
		rows, colours = append(rows, text), append(colours, roleColour[a.Run.Duty.Role()])
	}
	w.draw(rows, colours)
}

// used is what an agent has used, "" when it does not say.
func used(u agents.Usage) string {
	var parts []string
	if n := u.Tokens(); n > 0 {
		parts = append(parts, thousands(n)+" tokens")
	}
	if u.Dollars > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", u.Dollars))
	}
	return strings.Join(parts, ", ")
}

// cost is what a task has used, in a line.
func cost(s hq.Spend) string {
	if s.Runs == 0 {
		return ""
	}
	text := count(s.Runs, "run", "runs") + ", " + span(s.Time)
	if u := used(s.Usage); u != "" {
		text += ", " + u
	}
	return text
}

// thousands is a number of tokens, short.
func thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// verdictLine says how the task stands at the end of a run.
func (r *report) verdictLine(t state.Task) string {
	text := string(t.State)
	switch t.State {
	case state.Complete:
		reviews := t.ReviewCycles + 1
		return fmt.Sprintf("%s in %s, %s, %s: %s", text, span(t.Since.Sub(r.Created)), count(reviews, "review", "reviews"),
			count(t.Issued.Checks, "check", "checks"), line(t.Title))
	case state.AwaitingHuman:
		return "a person is waited for: " + line(t.Title)
	case state.Idle:
		return "there is no task"
	}
	return text + ": " + line(t.Title)
}
