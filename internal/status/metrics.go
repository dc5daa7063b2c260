package status

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// metricsIndex is a file in .ferrus with the counts of each archived task, a line each. It may be deleted: it is made again.
const metricsIndex = "metrics.index"

// checkBounds are the buckets of the duration of a check, in seconds.
var checkBounds = []float64{1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

// A tally is what is counted of the entries of tasks.
type tally struct {
	Events    map[state.Event]int            `json:"events"`
	Takeovers int                            `json:"takeovers"` // claims of work that somebody else held
	Checks    map[state.Event]*format.Spread `json:"checks"`    // their seconds, by how they ended

	started time.Time // of the check that runs
	holder  string
}

// add counts an entry of a task. Entries of a task come in their order.
func (t *tally) add(l *store.Line) {
	t.Events[l.Event]++
	switch l.Event {
	case state.Claim:
		if t.holder != "" {
			t.Takeovers++
		}
	case state.CheckStarted:
		t.started = l.At
	case state.CheckPassed, state.CheckFailed, state.CheckVoid:
		if !t.started.IsZero() {
			t.spread(l.Event).Observe(max(0, l.At.Sub(t.started).Seconds()), checkBounds)
		}
		t.started = time.Time{}
	}
	t.holder = l.State.ClaimedBy
}

func (t *tally) spread(ev state.Event) *format.Spread {
	if t.Checks[ev] == nil {
		t.Checks[ev] = &format.Spread{}
	}
	return t.Checks[ev]
}

// join adds what another tally has counted.
func (t *tally) join(other tally) {
	for ev, n := range other.Events {
		t.Events[ev] += n
	}
	t.Takeovers += other.Takeovers
	for ev, s := range other.Checks {
		t.spread(ev).Join(*s)
	}
}

func newTally() tally {
	return tally{Events: map[state.Event]int{}, Checks: map[state.Event]*format.Spread{}}
}

// Metrics returns the numbers of a project for other software: what it waits for, and what its tasks and agents have done, since it was set up.
// They are made of the journals and the records of runs, so that no restart sets them back, and contain no text, path, branch or id of a
// task. keep writes indexes, by which the next call reads each finished task no more. A project in a database counts the tasks that ended on
// this computer.
func Metrics(ctx context.Context, root, version string, o Options, keep bool) ([]format.Metric, error) {
	var counting sync.Mutex
	present, open := newTally(), o.Open
	o.Newest, o.Sizes = 0, false
	o.Open = func(p project.Place) (*engine.Engine, error) { // each machine once, several at a time
		e, err := open(p)
		if err == nil {
			one := countPresent(e)
			counting.Lock()
			defer counting.Unlock()
			present.join(one)
		}
		return e, err
	}
	v, err := ReadOverview(ctx, root, o)
	if err != nil {
		return nil, err
	}
	keep = keep && v.Foreign == nil
	all, outcomes, err := countArchives(root, keep)
	if err != nil {
		return nil, err
	}
	all.join(present)
	runs, err := records.Read(ctx, root, records.Options{Now: time.Now(), Index: keep})
	if err != nil {
		return nil, err
	}
	info := format.Metric{Name: "ferrus_build_info", Type: "gauge", Help: "The version of ferrus."}
	info.Add(1, "version", version)
	return slices.Concat([]format.Metric{info}, v.metrics(), all.metrics(outcomes), runMetrics(runs)), nil
}

// metrics are what there is at the moment.
func (v *Overview) metrics() []format.Metric {
	tasks := format.Metric{Name: "ferrus_tasks", Type: "gauge", Help: "Present tasks, of the project and its branches, by state."}
	states, needs := map[state.State]int{}, map[NeedKind]int{}
	for _, m := range v.Machines {
		if m.TaskID != "" && m.Error == "" {
			states[m.State]++
		}
	}
	for _, s := range state.States() {
		if s != state.Idle {
			tasks.Add(float64(states[s]), "state", string(s))
		}
	}
	queued := format.Metric{Name: "ferrus_queued_tasks", Type: "gauge", Help: "Tasks in the queue."}
	queued.Add(float64(len(v.Queue)))
	waits := format.Metric{Name: "ferrus_waiting_for_person", Type: "gauge", Help: "What waits for a person, by kind."}
	for _, n := range v.Needs {
		needs[n.Kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(needs)) {
		waits.Add(float64(needs[kind]), "kind", string(kind))
	}
	if len(needs) == 0 {
		waits.Add(0, "kind", string(NeedAnswer)) // an alert needs a series
	}
	return []format.Metric{tasks, queued, waits}
}

// metrics are what the tasks have done.
func (t tally) metrics(outcomes map[string]int) []format.Metric {
	ended := format.Metric{Name: "ferrus_tasks_ended_total", Type: "counter", Help: "Tasks that are over, by outcome."}
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		ended.Add(float64(outcomes[outcome]), "outcome", outcome)
	}
	events := format.Metric{Name: "ferrus_transitions_total", Type: "counter", Help: "Entries in the journals of tasks, by event."}
	for _, ev := range slices.Sorted(maps.Keys(t.Events)) {
		events.Add(float64(t.Events[ev]), "event", string(ev))
	}
	takeovers := format.Metric{Name: "ferrus_takeovers_total", Type: "counter", Help: "Claims of work that another session had held."}
	takeovers.Add(float64(t.Takeovers))
	checks := format.Metric{Name: "ferrus_check_duration_seconds", Type: "histogram", Help: "How long checks took, by their result."}
	for _, ev := range []state.Event{state.CheckPassed, state.CheckFailed, state.CheckVoid} {
		if s := t.Checks[ev]; s != nil {
			checks.AddSpread(*s, checkBounds, "status", string(ev)[len("check_"):])
		}
	}
	return []format.Metric{ended, events, takeovers, checks}
}

// runMetrics are what agents have used. A duty of a task and a role of a pipeline are roles.
func runMetrics(list []records.Run) []format.Metric {
	type key struct{ agent, role string }
	by := map[key][]records.Run{}
	for _, r := range list {
		k := key{r.Agent, r.Role}
		by[k] = append(by[k], r)
	}
	runs := format.Metric{Name: "ferrus_agent_runs_total", Type: "counter", Help: "Agents that were started."}
	seconds := format.Metric{Name: "ferrus_agent_seconds_total", Type: "counter", Help: "The time for which agents worked."}
	tokens := format.Metric{Name: "ferrus_agent_tokens_total", Type: "counter", Help: "Tokens that agents report."}
	dollars := format.Metric{Name: "ferrus_agent_dollars_total", Type: "counter", Help: "Dollars that agents report."}
	for _, k := range slices.SortedFunc(maps.Keys(by), func(a, b key) int { return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.role, b.role)) }) {
		sum, labels := records.Sum(by[k]), []string{"agent", k.agent, "role", k.role}
		runs.Add(float64(sum.Runs), labels...)
		seconds.Add(sum.Time.Seconds(), labels...)
		if sum.Counted > 0 {
			u := sum.Usage
			for _, of := range []struct {
				kind string
				n    int64
			}{{"input", u.Input - u.Cached}, {"cached_input", u.Cached}, {"output", u.Output}} {
				tokens.Add(float64(of.n), append(slices.Clone(labels), "type", of.kind)...)
			}
		}
		if sum.Priced > 0 {
			dollars.Add(sum.Usage.Dollars, labels...)
		}
	}
	return []format.Metric{runs, seconds, tokens, dollars}
}

// countArchives counts the tasks that are over, and their outcomes. One that cannot be read counts as unreadable.
func countArchives(root string, keep bool) (all tally, outcomes map[string]int, err error) {
	all, outcomes = newTally(), map[string]int{}
	home, err := rootfs.OpenBelow(project.At(root, "").Dir(), project.DirName, 0)
	if err != nil {
		return all, outcomes, absent(err)
	}
	defer home.Close()
	index := project.OpenIndex(home, metricsIndex)
	err = eachArchive(home, unfinished(home), func(archive *rootfs.Root, dir string, t ArchivedTask) error {
		return index.Use(dir, signOf(archive, t.TaskID), func() string {
			one := newTally()
			if err := eachLine(home, dir, func(l *store.Line) { one.add(l); t.State = l.To }); err != nil {
				t.Error = err.Error()
			}
			text, _ := json.Marshal(counted{one, t.Outcome()}) // numbers and names are always written
			return string(text)
		}, func(known string) error {
			var one counted
			err := json.Unmarshal([]byte(known), &one)
			if err == nil && one.Outcome == "" {
				err = errors.New("the index of the metrics has no outcome")
			}
			if err == nil {
				all.join(one.tally)
				outcomes[one.Outcome]++
			}
			return err
		})
	})
	if err == nil && keep {
		index.Save()
	}
	return all, outcomes, err
}

// A counted task is a line of the index.
type counted struct {
	tally
	Outcome string `json:"outcome"`
}

// signOf changes with the journal of an archived task.
func signOf(archive *rootfs.Root, task string) string {
	info, err := archive.Lstat(task + "/journal.jsonl")
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano())
}

// countPresent counts the task that a machine works on. One that cannot be read adds nothing: ferrus_waiting_for_person says so.
func countPresent(e *engine.Engine) tally {
	one := newTally()
	lines, err := presentTask(e)
	if err != nil {
		return one
	}
	for _, l := range lines {
		one.add(l)
	}
	return one
}

// presentTask returns the entries of the task that a machine works on; none where it is over.
func presentTask(e *engine.Engine) (lines []*store.Line, err error) {
	snap, err := e.View()
	if err != nil {
		return nil, err
	}
	begin, ok := snap.Task.Docs[state.TaskDoc]
	if !ok || snap.Task.State.Over() || snap.Task.TaskID == "" {
		return nil, nil
	}
	for l, err := range e.Store().HistoryFrom(begin.Off) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}
