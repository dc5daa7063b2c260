package status

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Trace is a task as OpenTelemetry knows work: the task, below it the runs of its agents, and below them the checks. Names and attributes are
// those of the conventions for generative AI. It contains no text, path or branch.
type Trace struct {
	ID    string // see [agents.TraceID]
	Spans []Span // the task's first; a parent is before its children
}

// A Span is a part of a trace. It ends when it began if its end is not known.
type Span struct {
	ID, Parent string // Parent is "" for the task's
	Name       string
	Start, End time.Time
	Attributes []Attribute
	Events     []SpanEvent
	Failed     bool
}

// An Attribute is a name with a string, an int64, a float64 or a bool.
type Attribute struct {
	Name  string
	Value any
}

// A SpanEvent is what happened at a moment of a span.
type SpanEvent struct {
	Name       string
	At         time.Time
	Attributes []Attribute
}

// providers are the names that the conventions have for who makes the models of an agent.
var providers = map[string]string{"claude-code": "anthropic", "codex": "openai", "gemini": "gcp.gemini"}

// ReadTrace makes the trace of a task, present or over. The error is [fs.ErrNotExist] if the project has none of that id.
func ReadTrace(ctx context.Context, root, id string, open func(project.Place) (*engine.Engine, error)) (Trace, error) {
	lines, err := taskLines(ctx, root, id, open)
	if err != nil {
		return Trace{}, err
	}
	runs, err := records.Read(ctx, root, records.Options{Now: time.Now(), Since: lines[0].At.Truncate(time.Second)})
	if err != nil {
		return Trace{}, err
	}
	runs = slices.DeleteFunc(runs, func(r records.Run) bool { return r.Task != id })
	slices.SortFunc(runs, func(a, b records.Run) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Name, b.Name)) })
	return traceOf(id, lines, runs), nil
}

// taskLines returns the entries of a task of a project, present or over. The error is [fs.ErrNotExist] if there is none.
func taskLines(ctx context.Context, root, id string, open func(project.Place) (*engine.Engine, error)) (lines []*store.Line, err error) {
	places, err := project.Survey(ctx, root)
	for _, p := range places {
		e, failed := open(p)
		if failed != nil {
			continue
		}
		list, failed := presentTask(e)
		if e.Close(); failed == nil && len(list) > 0 && list[0].State.TaskID == id {
			return list, nil
		}
	}
	if err != nil {
		return nil, err
	}
	home, err := rootfs.OpenBelow(project.At(root, "").Dir(), project.DirName, 0)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	err = eachArchive(home, unfinished(home), func(_ *rootfs.Root, dir string, t ArchivedTask) error {
		if t.TaskID != id || lines != nil {
			return nil
		}
		return eachLine(home, dir, func(l *store.Line) { lines = append(lines, l) })
	})
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("there is no task %s: %w", id, fs.ErrNotExist)
	}
	return lines, err
}

// traceOf makes a trace of the entries of a task and of its runs, both in their order.
func traceOf(id string, lines []*store.Line, runs []records.Run) Trace {
	first, last := lines[0], lines[len(lines)-1]
	task := Span{ID: agents.SpanID(id, ""), Name: "invoke_workflow task", Start: first.At, End: last.At, Failed: last.To == state.Failed,
		Attributes: []Attribute{{"gen_ai.operation.name", "invoke_workflow"}, {"gen_ai.workflow.name", "task"}, {"ferrus.task.id", id}, {"ferrus.task.state", string(last.To)}}}
	t := Trace{ID: agents.TraceID(id)}
	var below []Span
	for _, r := range runs {
		below = append(below, spanOf(id, r))
		if end := r.Started.Add(r.Time); end.After(task.End) {
			task.End = end
		}
	}
	agentSpans := len(below)
	var check *Span
	for _, l := range lines {
		task.Events = append(task.Events, SpanEvent{"ferrus." + string(l.Event), l.At, []Attribute{{"ferrus.state.from", string(l.From)}, {"ferrus.state.to", string(l.To)}}})
		switch l.Event {
		case state.Approve, state.Reject:
			task.Events = append(task.Events, verdict("review", map[bool]string{true: "approved", false: "rejected"}[l.Event == state.Approve], l.At))
		case state.CheckStarted:
			below = append(below, Span{ID: agents.SpanID(id, l.State.Check.ID), Parent: runAt(below[:agentSpans], l.At, task.ID), Name: "execute_tool check", Start: l.At, End: l.At,
				Attributes: []Attribute{{"gen_ai.operation.name", "execute_tool"}, {"gen_ai.tool.name", "check"}}})
			check = &below[len(below)-1]
		case state.CheckPassed, state.CheckFailed, state.CheckVoid:
			if check != nil {
				result := strings.TrimPrefix(string(l.Event), "check_")
				check.End, check.Failed = l.At, l.Event == state.CheckFailed
				check.Events = append(check.Events, verdict("checks", result, l.At))
				check = nil
			}
		}
	}
	for i := range below[:agentSpans] {
		below[i].Parent = task.ID
	}
	t.Spans = append([]Span{task}, below...)
	return t
}

// spanOf is the span of a run.
func spanOf(task string, r records.Run) Span {
	s := Span{ID: agents.SpanID(task, r.Name), Name: "invoke_agent " + r.Agent, Start: r.Started, End: r.Started.Add(r.Time),
		Attributes: []Attribute{{"gen_ai.operation.name", "invoke_agent"}, {"gen_ai.agent.name", r.Agent}, {"gen_ai.agent.id", r.Name}, {"ferrus.agent.duty", r.Role}}}
	add := func(name string, value any, known bool) {
		if known {
			s.Attributes = append(s.Attributes, Attribute{name, value})
		}
	}
	add("gen_ai.provider.name", providers[r.Agent], providers[r.Agent] != "")
	add("gen_ai.request.model", r.Model, r.Model != "")
	add("gen_ai.usage.input_tokens", r.Usage.Input, r.Usage.Tokens() > 0)
	add("gen_ai.usage.cache_read.input_tokens", r.Usage.Cached, r.Usage.Cached > 0)
	add("gen_ai.usage.output_tokens", r.Usage.Output, r.Usage.Tokens() > 0)
	add("ferrus.usage.dollars", r.Usage.Dollars, r.Usage.Dollars > 0)
	return s
}

// runAt is the id of the executor's run that was at work at a time: the newest of them. Without one it is other.
func runAt(runs []Span, at time.Time, other string) string {
	for _, r := range slices.Backward(runs) {
		executes := slices.Contains(r.Attributes, Attribute{"ferrus.agent.duty", string(agents.Executor)})
		if executes && !at.Before(r.Start) && !at.After(r.End) {
			return r.ID
		}
	}
	return other
}

// verdict is the event of an evaluation.
func verdict(name, label string, at time.Time) SpanEvent {
	return SpanEvent{"gen_ai.evaluation.result", at, []Attribute{{"gen_ai.evaluation.name", name}, {"gen_ai.evaluation.score.label", label}}}
}

// Rows draw the trace as a tree, a span in a row: its name, the run of its agent, how long it took, and what came of it.
func (t Trace) Rows() (rows [][]string) {
	below := map[string][]Span{}
	for _, s := range t.Spans[1:] {
		below[s.Parent] = append(below[s.Parent], s)
	}
	for _, list := range below {
		slices.SortStableFunc(list, func(a, b Span) int { return a.Start.Compare(b.Start) })
	}
	var draw func(s Span, lead, next string)
	draw = func(s Span, lead, next string) {
		rows = append(rows, []string{lead + s.Name, s.attribute("gen_ai.agent.id"), format.Duration(s.End.Sub(s.Start)), s.outcome()})
		for i, child := range below[s.ID] {
			if i == len(below[s.ID])-1 {
				draw(child, next+"└─ ", next+"   ")
			} else {
				draw(child, next+"├─ ", next+"│  ")
			}
		}
	}
	draw(t.Spans[0], "", "")
	return rows
}

// attribute is the text of an attribute, "" where there is none.
func (s Span) attribute(name string) string {
	for _, a := range s.Attributes {
		if a.Name == name {
			return fmt.Sprint(a.Value)
		}
	}
	return ""
}

// outcome is what came of a span, in words.
func (s Span) outcome() string {
	if is := s.attribute("ferrus.task.state"); is != "" {
		return StateWords(state.State(is))
	}
	for _, e := range slices.Backward(s.Events) {
		if e.Name == "gen_ai.evaluation.result" {
			return fmt.Sprint(e.Attributes[1].Value)
		}
	}
	return ""
}

// OTLP returns the trace as the JSON of an ExportTraceServiceRequest of OTLP 1.
func (t Trace) OTLP(version string) map[string]any {
	spans := []map[string]any{}
	for _, s := range t.Spans {
		code := map[bool]int{true: 2, false: 0}[s.Failed] // STATUS_CODE_ERROR, STATUS_CODE_UNSET
		events := []map[string]any{}
		for _, e := range s.Events {
			events = append(events, map[string]any{"timeUnixNano": nanos(e.At), "name": e.Name, "attributes": attributes(e.Attributes)})
		}
		span := map[string]any{"traceId": t.ID, "spanId": s.ID, "name": s.Name, "kind": 1, // SPAN_KIND_INTERNAL
			"startTimeUnixNano": nanos(s.Start), "endTimeUnixNano": nanos(s.End), "attributes": attributes(s.Attributes), "events": events,
			"status": map[string]any{"code": code}}
		if s.Parent != "" {
			span["parentSpanId"] = s.Parent
		}
		spans = append(spans, span)
	}
	return map[string]any{"resourceSpans": []map[string]any{{
		"resource": map[string]any{"attributes": attributes([]Attribute{{"service.name", "ferrus"}, {"service.version", version}})},
		"scopeSpans": []map[string]any{{
			"scope": map[string]any{"name": "github.com/ferrus-go/ferrus", "version": version},
			"spans": spans,
		}},
	}}}
}

// nanos is a time as OTLP writes it: a 64-bit number is a string in JSON.
func nanos(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }

func attributes(list []Attribute) []map[string]any {
	all := []map[string]any{}
	for _, a := range list {
		var value map[string]any
		switch v := a.Value.(type) {
		case int64:
			value = map[string]any{"intValue": strconv.FormatInt(v, 10)}
		case float64:
			value = map[string]any{"doubleValue": json.Number(strconv.FormatFloat(v, 'g', -1, 64))}
		case bool:
			value = map[string]any{"boolValue": v}
		default:
			value = map[string]any{"stringValue": fmt.Sprint(v)}
		}
		all = append(all, map[string]any{"key": a.Name, "value": value})
	}
	return all
}
