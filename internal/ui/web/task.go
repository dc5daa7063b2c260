package web

import (
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	attempts "github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A view is a part of the page of a task.
type view struct{ Name, Label string }

// taskViews are the parts of the page of a task, in their order.
var taskViews = []view{{"", "Overview"}, {"diff", "Diff"}, {"log", "Log"}, {"checks", "Checks"}, {"agents", "Agents"}, {"documents", "Documents"}}

// A task is the page of a task.
type task struct {
	*status.Detail
	Place string
	Link  string // of the page without a view
	base  string // of the addresses of the project
	View  string
	Views []view
	First []status.Act // what the task needs now
	Other []status.Act // what is possible beside that
	Diff  *diff
	Runs  []agentRun
	Tail  *tail
	Seq   string // of the entry that the acts of the log are about
	Group int    // of how many attempts at the same task it is one, 0 where it is none
}

// An agentRun is a process of an agent that was started for the task.
type agentRun struct {
	process.Run
	Live bool
	Name string
}

// How many entries of the log are shown at first: in its own view, and in the first one.
const (
	newestEntries = 200
	storyEntries  = 12
)

// firstActs are the acts that move a task on. Those about an entry of the log stand in the log.
var (
	firstActs = []string{"finish", "answer", "approve", "reject", "resume", "merge", "resolve", "select", "accept", "reopen"}
	entryActs = []string{"rollback", "rollback-files", "branch"}
)

func (s *Site) task(w http.ResponseWriter, r *http.Request) error {
	branch := r.PathValue("name")
	name := r.URL.Query().Get("view")
	if !slices.ContainsFunc(taskViews, func(v view) bool { return v.Name == name }) {
		return errNotFound
	}
	newest := 1
	switch {
	case name == "":
		newest = storyEntries
	case name == "log" && r.URL.Query().Get("all") != "":
		newest = 0
	case name == "log":
		newest = newestEntries
	}
	var e *engine.Engine // nil when it cannot be opened now
	d, stale, err := remember(s.seen, "task "+branch+" "+strconv.Itoa(newest), func() (_ *status.Detail, err error) {
		if e, err = s.open(branch); err != nil {
			return nil, err
		}
		d, err := status.ReadDetail(r.Context(), e, newest)
		if err == nil && newest != 1 {
			d.ReadForks(e)
		}
		return d, err
	})
	if e != nil {
		defer e.Close()
	}
	if refusal.CodeOf(err) == refusal.Corrupt && e != nil {
		return s.damaged(w, r, e, err)
	}
	if err != nil {
		return err
	}
	title := format.Line(d.Title)
	if d.TaskID == "" {
		title = "No task"
	}
	p := s.page(r, title)
	p.Live, p.Stale = s.base+"/events?branch="+branch, stale
	t := &task{Detail: d, base: s.base, Place: placeOf(branch), Link: linkTo(s.base, branch), View: name, Views: taskViews, Seq: r.URL.Query().Get("seq")}
	if names, err := project.Branches(s.opts.Root); err == nil && slices.Contains(names, branch) {
		if group := len(attempts.Group(names, branch)); group > 1 {
			t.Group = group
		}
	}
	for _, a := range d.Acts {
		switch {
		case slices.Contains(firstActs, a.Name):
			t.First = append(t.First, a)
		case !slices.Contains(entryActs, a.Name):
			t.Other = append(t.Other, a)
		}
	}
	if e == nil && (name == "diff" || name == "agents") {
		return errBusy
	}
	switch name {
	case "diff":
		if t.Diff, err = s.diff(r, e, d, p, t.Link); err != nil {
			return err
		}
	case "agents":
		if err := t.agents(r, e, branch); err != nil {
			return err
		}
	case "":
		if err := t.atWork(branch); err != nil {
			return err
		}
	}
	p.Data = t
	return s.show(w, http.StatusOK, "task", p)
}

// errBusy is why a patch or the output of agents is not shown: what was read last has neither.
var errBusy = &refusal.RefusedError{Code: refusal.LockBusy, Message: "another process has the lock of the task", Remedy: "load the page again", Person: true}

// Acted returns the acts about an entry of the log.
func (t *task) Acted() (list []status.Act) {
	for _, a := range t.Acts {
		if slices.Contains(entryActs, a.Name) {
			list = append(list, a)
		}
	}
	return list
}

// agents reads the processes of agents, the newest first, and the end of the output of one.
func (t *task) agents(r *http.Request, e *engine.Engine, branch string) error {
	if t.TaskID == "" {
		return nil
	}
	runs, err := process.Runs(conductor.Runs(e, t.TaskID))
	if err != nil {
		return err
	}
	for _, run := range slices.Backward(runs) {
		live := slices.ContainsFunc(t.Report.Agents, func(a status.AgentReport) bool { return a.Run.Name == run.Name })
		t.Runs = append(t.Runs, agentRun{run, live, run.Name})
	}
	name := r.URL.Query().Get("run")
	if name == "" && len(runs) > 0 {
		name = runs[len(runs)-1].Name
	}
	at := slices.IndexFunc(runs, func(run process.Run) bool { return run.Name == name })
	if at < 0 {
		return nil
	}
	t.Tail, err = tailOf(runs[at], t.base, branch)
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

// atWork reads the end of the output of the agent that began last of those at work on this computer.
func (t *task) atWork(branch string) (err error) {
	for _, a := range slices.Backward(t.Report.Agents) {
		if a.Node != "" {
			continue
		}
		if t.Tail, err = tailOf(a.Run, t.base, branch); errors.Is(err, errNotFound) {
			return nil
		}
		return err
	}
	return nil
}

// Passed reports whether the newest check passed on what was submitted.
func (t *task) Passed() bool { return t.Check != nil && t.Check.Status == state.CheckGreen }

// LogName is the name of the log of the newest check, "" without one.
func (t *task) LogName() string {
	if t.Check == nil || t.Check.Log == "" {
		return ""
	}
	return filepath.Base(t.Check.Log)
}

// damaged shows the log up to the line that cannot be read.
func (s *Site) damaged(w http.ResponseWriter, r *http.Request, e *engine.Engine, why error) error {
	list, _ := status.History(e, 0) // it is known that it fails
	p := s.page(r, "Damaged")
	a := archive{Past: &status.Past{ArchivedTask: status.ArchivedTask{TaskID: "The journal is damaged"}}}
	for _, ev := range list {
		a.Timeline = append(a.Timeline, ev.Entry())
	}
	a.Error, a.Remedy = explain(why)
	p.Data = a
	return s.show(w, http.StatusInternalServerError, "archived", p)
}
