package run

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A watcher shows a run while it goes: plain lines of what happens, and on a terminal, below them, one live line an
// agent. It also takes the answers that are typed there.
type watcher struct {
	cli.Footer
	a        *cli.App
	s        *engine.Session
	headless bool
	live     bool // on a terminal

	mu    sync.Mutex
	open  string // the question that may be answered by typing
	waits *waits
	reads bool // stdin is being read
}

func newWatcher(a *cli.App, s *engine.Session, headless bool) *watcher {
	w := &watcher{Footer: cli.Footer{On: a}, a: a, s: s, headless: headless, live: a.OutTTY && !a.JSON}
	w.waits = newWaits(&w.mu, w.live, func(_, line string) {
		if w.live {
			w.Draw([]string{line}, []string{cli.Bold})
		} else {
			w.a.Say("%s  %s\n", format.Clock(time.Now()), line)
		}
	})
	return w
}

// close takes the live lines away.
func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits.end("")
	w.Erase()
	w.live = false
}

// tell shows what has happened.
func (w *watcher) tell(e conductor.Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.a.JSON {
		_ = w.a.PrintJSONLine(e)
		return
	}
	w.waits.end("")
	w.Erase()
	w.a.Say("%s  %s\n", format.Clock(e.At), w.words(e))
	if e.Kind == conductor.Trying || e.Kind == conductor.Confirming {
		w.waits.begin("", "running the checks")
	}
	if e.Kind == conductor.Moved { // nothing else closes a question: who has asked may well end while it is open
		w.open = ""
	}
	if e.Kind != conductor.Asked || w.headless {
		return // the end of a headless run shows it
	}
	text, list := handover.SplitOptions(e.Text)
	text, _ = format.Head(text, cli.MaxShown)
	w.a.Say("%s\n", format.Frame(text, "          "))
	for _, o := range list {
		w.a.Say("          %s%s\n", format.Bar, format.Line(o))
	}
	w.open = e.Run
	w.a.Say("          %s\n", w.a.Paint(cli.Bold, w.a.Commands("type the answer, or a number; or use ferrus answer{branch} in another terminal")))
	w.read()
}

// follow takes the log of commands that have begun to run.
func (w *watcher) follow(log string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.a.JSON {
		w.waits.follow("", log)
	}
}

// tellOf shows what has happened to a delegate of the task, by its branch.
func (w *watcher) tellOf(branch string, e conductor.Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.a.JSON {
		_ = w.a.PrintJSONLine(struct {
			Branch string `json:"branch"`
			conductor.Event
		}{branch, e})
		return
	}
	w.Erase()
	w.a.Say("%s  %-14s  %s\n", format.Clock(e.At), w.a.Name(branch, 14), w.words(e))
}

// words is an event in a line.
func (w *watcher) words(e conductor.Event) cli.Styled {
	duty := w.a.Paint(cli.RoleColour[e.Duty.Role()], fmt.Sprintf("%-12s", e.Run))
	switch e.Kind {
	case conductor.Moved:
		text := w.a.PaintState(e.State, 0)
		if e.Text != "" {
			text += w.a.Paint("", "  "+format.Clip(format.Line(e.Text), 160))
		}
		return text
	case conductor.Found:
		return duty + w.a.Paint("", "  "+e.Agent+" is already running"+inSandbox(e.Sandbox))
	case conductor.Trying:
		return cli.Styled("trying the checks in their sandbox (" + e.Sandbox + "), once before an agent starts")
	case conductor.Confirming:
		return cli.Styled("running the checks on this computer too, before a reviewer starts")
	case conductor.Started:
		return duty + w.a.Paint("", "  "+e.Agent+" started"+inSandbox(e.Sandbox)+because(e.Outside)+because(e.Why))
	case conductor.FellBack:
		return w.a.Paint(cli.Yellow, format.Line(e.Text))
	case conductor.Ending:
		return duty + w.a.Paint("", "  stopped by ferrus: "+format.Line(e.Text))
	case conductor.Ended:
		r := e.Ended
		text := fmt.Sprintf("  %s ended after %s%s", e.Agent, format.Duration(r.Lasted(time.Now())), cli.DescribeEnd(*r))
		if u := status.Usage(r.Usage); u != "" {
			text += ", " + u
		}
		return duty + w.a.Paint("", text)
	case conductor.Parked:
		return w.a.Paint(cli.Yellow, fmt.Sprintf("waiting until %s: %s", format.Clock(e.Until), format.Line(e.Text)))
	case conductor.Asked:
		return w.a.Paint(cli.Yellow, "question "+e.Run+" from "+e.Agent)
	case conductor.Late:
		return lateWords(w.a, e)
	case conductor.Stopping:
		return cli.Styled("stopping: ending the agents")
	}
	return cli.Styled(string(e.Kind))
}

// inSandbox says which mechanism keeps an agent in.
func inSandbox(mechanism string) string {
	if mechanism == "" {
		return ""
	}
	return " in a sandbox (" + mechanism + ")"
}

// because returns a reason as it follows a statement.
func because(why string) string {
	if why == "" {
		return ""
	}
	return "; " + format.Line(why)
}

// read takes lines from the terminal for as long as the program runs, and answers what is open with them.
func (w *watcher) read() {
	if w.reads || !w.a.InTTY {
		return
	}
	w.reads = true
	go func() {
		lines := &cli.LineWriter{Show: func(line string) {
			text := strings.TrimSpace(line)
			w.mu.Lock()
			open := w.open
			w.mu.Unlock()
			if text == "" || open == "" {
				return
			}
			if _, err := w.s.Answer(context.Background(), open, text); err != nil {
				f := cli.Explain(cli.CannotDo("answer", "", err))
				w.mu.Lock()
				w.Erase()
				w.a.Say("          %s\n", format.Line(f.Message+"; "+w.a.Remedy(f)))
				w.mu.Unlock()
			}
		}}
		_, _ = io.Copy(lines, w.a.In) // it ends with the terminal
		lines.Flush()
	}()
}

// show draws the live lines.
func (w *watcher) show(v conductor.View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits.end("")
	if !w.live {
		return
	}
	t := v.Task
	head := fmt.Sprintf("%-*s %s", cli.StateWidth, status.StateWords(t.State), format.Clip(format.Line(t.Title), 42))
	if !t.Since.IsZero() {
		head += "  for " + format.Duration(v.Now.Sub(t.Since))
	}
	if s := status.Cost(v.Total); s != "" {
		head += "  (" + s + ")"
	}
	if v.Act.Do == "park" && !v.Act.Until.IsZero() {
		head += fmt.Sprintf("  waiting %s: %s", format.Duration(v.Act.Until.Sub(v.Now)), format.Line(v.Act.Why))
	}
	rows, colours := []string{head}, []string{cli.Bold}
	for _, a := range v.Agents {
		text := fmt.Sprintf("%-12s %-11s %8s", a.Run.Name, a.Run.Agent, format.Duration(a.Run.Lasted(v.Now)))
		if u := status.Usage(a.Run.Usage); u != "" {
			text += "  " + u
		}
		if a.Doing != "" {
			text += "  " + format.Line(a.Doing)
		}
		rows, colours = append(rows, text), append(colours, cli.RoleColour[a.Run.Duty.Role()])
	}
	w.Draw(rows, colours)
}

// verdictLine says how the task stands at the end of a run.
func verdictLine(r *status.Report, t state.Task) string {
	text := status.StateWords(t.State)
	switch t.State {
	case state.Complete:
		reviews := format.Count(t.ReviewCycles+1, "review", "reviews")
		if r.SameModel != "" {
			reviews += " by the same model"
		}
		return fmt.Sprintf("%s in %s, %s, %s: %s", text, format.Duration(t.Since.Sub(r.Created)), reviews,
			format.Count(t.Issued.Checks, "check", "checks"), format.Line(t.Title))
	case state.AwaitingHuman:
		return "waiting for you: " + format.Line(t.Title)
	case state.Idle:
		return "there is no task"
	}
	return text + ": " + format.Line(t.Title)
}
