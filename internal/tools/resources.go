package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A resource is a part of the task that a client may read.
type resource struct {
	name, title, mime string
	roles             []state.Role // roles whose tools show it, too; other roles cannot list or read it
	read              func(*engine.Engine) (string, error)
}

// resources lists all resources. History is the journal, including decisions about others, so only
// a supervisor has it.
var resources = []resource{
	{"task", "The task", markdown, agents, storedText(state.TaskDoc)},
	{"review", "The notes of the last rejection", markdown, agents, storedText(state.ReviewDoc)},
	{"submission", "The submission", markdown, agents, storedText(state.SubmissionDoc)},
	{"question", "The newest question to a person", markdown, agents, storedText(state.QuestionDoc)},
	{"answer", "The newest answer of a person", markdown, agents, storedText(state.AnswerDoc)},
	{"consult_request", "The newest question to the supervisor", markdown, agents, storedText(state.ConsultRequestDoc)},
	{"consult_response", "The newest answer of the supervisor", markdown, agents, storedText(state.ConsultResponseDoc)},
	{"decisions", "What a person has decided about the task, newest first", object, agents, remembered(func(p handover.Packet) any { return p.Decisions })},
	{"messages", "What agents have sent to the executor, newest first", object, agents, remembered(func(p handover.Packet) any { return p.Messages })},
	{"consultations", "What the supervisor has answered, newest first", object, agents, remembered(func(p handover.Packet) any { return p.Consultations })},
	{"progress", "The newest progress notes, newest first", object, agents, remembered(func(p handover.Packet) any { return p.Progress })},
	{"last_check", "How the last check ended", object, agents, remembered(func(p handover.Packet) any { return p.LastCheck })},
	{"state", "The state, as STATE.json has it", object, everyone, readState},
	{"history", "The events, with all texts, newest last", "text/plain", supervisor, readHistory},
}

const (
	markdown = "text/markdown"
	object   = "application/json"
)

// Limits of the resource history: the newest events, and of those with long texts at least the
// newest one.
const (
	historyEvents = 500
	historyBytes  = 4 << 20
)

func (o Options) addResources(s *mcp.Server) {
	for _, r := range resources {
		if !slices.Contains(r.roles, o.Role) {
			continue
		}
		uri := "ferrus://" + r.name
		s.AddResource(&mcp.Resource{URI: uri, Name: r.name, Title: r.title, MIMEType: r.mime},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				e, err := o.Engine()
				if err == nil {
					err = e.Known()
				}
				if err != nil {
					return nil, err
				}
				text, err := r.read(e)
				if err != nil {
					return nil, err
				}
				if r.mime == object {
					text = string(safetext.MarkJSON([]byte(text)))
				} else {
					text = safetext.Mark(text)
				}
				c := &mcp.ResourceContents{URI: uri, MIMEType: r.mime, Text: text}
				if text == "" {
					*c = nothing(uri, r.title)
				}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
			})
	}
}

// storedText reads a document of the present task.
func storedText(doc state.Doc) func(*engine.Engine) (string, error) {
	return func(e *engine.Engine) (string, error) {
		snap, err := e.View()
		if err != nil {
			return "", err
		}
		return store.Text(e.Store(), snap, doc)
	}
}

// remembered reads a part of the task that is not a document, as JSON.
func remembered(part func(handover.Packet) any) func(*engine.Engine) (string, error) {
	return func(e *engine.Engine) (string, error) {
		snap, err := e.View()
		if err != nil {
			return "", err
		}
		p, err := e.Remembered(snap, string(state.Executor))
		if err != nil {
			return "", err
		}
		text, err := jsonx.MarshalIndent(part(p), "", "  ")
		if string(text) == "null" || string(text) == "[]" {
			return "", err
		}
		return string(text), err
	}
}

// absent marks contents that are not those of a document.
const absent = "ferrus/absent"

// nothing returns a sentence for a missing document. That is not an error: the resource is always
// listed, and "no review yet" is an answer. The protocol has no contents without a text.
func nothing(uri, title string) mcp.ResourceContents {
	return mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "ferrus: " + title + ": there is none now. ferrus://state has the state of the task.",
		Meta: mcp.Meta{absent: true}}
}

func readState(e *engine.Engine) (string, error) {
	snap, err := e.View()
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(snap.Task, "", "  ")
	return string(text), err
}

func readHistory(e *engine.Engine) (string, error) {
	var entries []string
	for l, err := range e.Store().Newest(historyEvents) {
		if err != nil {
			return "", err
		}
		entries = append(entries, historyLine(l)+historyTexts(l))
	}
	for size, i := 0, len(entries)-1; i >= 0; i-- {
		if size += len(entries[i]); size > historyBytes && i < len(entries)-1 {
			entries = entries[i+1:]
			break
		}
	}
	return strings.Join(entries, "\n"), nil
}

// historyTexts returns the documents of an event, each line indented.
func historyTexts(l *store.Line) string {
	var b strings.Builder
	for _, doc := range slices.Sorted(maps.Keys(l.Docs)) {
		if store.Private(doc) {
			continue
		}
		fmt.Fprintf(&b, "\n    %s:", doc)
		for line := range strings.Lines(l.Docs[doc]) {
			b.WriteString("\n      " + strings.TrimRight(line, "\r\n"))
		}
	}
	return b.String()
}

// from returns the process tree of a decision, as a suffix.
func from(a store.Actor) string {
	if a.Tree == "" {
		return ""
	}
	return "  (" + a.Tree + ")"
}

// historyLine returns one event as one line.
func historyLine(l *store.Line) string {
	moved := string(l.To)
	if l.From != l.To {
		moved = fmt.Sprintf("%s → %s", l.From, l.To)
	}
	rule := ""
	if l.Rule != "" {
		rule = "  (rule: " + l.Rule + ")"
	}
	return strings.TrimRight(fmt.Sprintf("%d  %s  %s  %s  %s  %s", l.Seq, l.At.Format("2006-01-02 15:04:05"), l.Actor.Agent,
		l.Event, moved, strings.ReplaceAll(l.Note, "\n", " ")+from(l.Actor)+rule), " ")
}

func (o Options) addPrompts(s *mcp.Server) {
	for _, p := range prompts {
		if p.role != "" && o.Role != p.role {
			continue
		}
		s.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title, Description: p.doc, Arguments: p.args},
			func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				order := p.order
				if p.args != nil {
					var values []any
					for _, arg := range p.args {
						value := strings.TrimSpace(req.Params.Arguments[arg.Name])
						if value == "" {
							return nil, fmt.Errorf("the prompt %s needs %s: %s", p.name, arg.Name, arg.Description)
						}
						values = append(values, value)
					}
					order = fmt.Sprintf(order, values...)
				}
				return &mcp.GetPromptResult{Description: p.doc, Messages: []*mcp.PromptMessage{
					{Role: "user", Content: &mcp.TextContent{Text: order}}}}, nil
			})
	}
}
