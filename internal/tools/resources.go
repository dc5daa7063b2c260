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
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// documents are the resources that are one document each.
var documents = []struct {
	name, title string
	doc         state.Doc
}{
	{"task", "The task", state.TaskDoc},
	{"review", "The notes of the last rejection", state.ReviewDoc},
	{"submission", "The submission", state.SubmissionDoc},
	{"question", "The newest question to a person", state.QuestionDoc},
	{"answer", "The newest answer of a person", state.AnswerDoc},
	{"consult_request", "The newest question to the supervisor", state.ConsultRequestDoc},
	{"consult_response", "The newest answer of the supervisor", state.ConsultResponseDoc},
}

// How much of the history the resource shows: the newest events, and of those with long texts at least the newest.
const (
	historyEvents = 500
	historyBytes  = 4 << 20
)

func (o Options) addResources(s *mcp.Server) {
	add := func(name, title, mime string, read func(*engine.Engine) (string, error)) {
		uri := "ferrus://" + name
		s.AddResource(&mcp.Resource{URI: uri, Name: name, Title: title, MIMEType: mime},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				e, err := o.Engine()
				if err == nil {
					err = e.Known()
				}
				if err != nil {
					return nil, err
				}
				text, err := read(e)
				if err != nil {
					return nil, err
				}
				c := &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: text}
				if text == "" {
					*c = nothing(uri, title)
				}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
			})
	}
	for _, d := range documents {
		add(d.name, d.title, "text/markdown", func(e *engine.Engine) (string, error) {
			snap, err := e.View()
			if err != nil {
				return "", err
			}
			return e.Store().Text(snap, d.doc)
		})
	}
	add("state", "The state, as STATE.json has it", "application/json", readState)
	add("history", "What happened, with all texts, newest last", "text/plain", readHistory)
}

// absent marks contents that are ours, and no document's.
const absent = "ferrus/absent"

// nothing says in words that a document is not there. It is no error: the resource is listed at all times, and that there
// is no review yet is an answer. Contents without a text are none that the protocol knows.
func nothing(uri, title string) mcp.ResourceContents {
	return mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "ferrus: " + title + ": there is none now. ferrus://state says where the task stands.",
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
	for l, err := range e.Store().History() {
		if err != nil {
			return "", err
		}
		entries = append(entries, historyLine(l)+historyTexts(l))
		entries = entries[max(0, len(entries)-historyEvents):]
	}
	for size, i := 0, len(entries)-1; i >= 0; i-- {
		if size += len(entries[i]); size > historyBytes && i < len(entries)-1 {
			entries = entries[i+1:]
			break
		}
	}
	return strings.Join(entries, "\n"), nil
}

// historyTexts are the documents of an event, each line indented.
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

// from is the process tree of a decision, to stand behind it.
func from(a store.Actor) string {
	if a.Tree == "" {
		return ""
	}
	return "  (" + a.Tree + ")"
}

// historyLine is one event on one line.
func historyLine(l *store.Line) string {
	moved := string(l.To)
	if l.From != l.To {
		moved = fmt.Sprintf("%s → %s", l.From, l.To)
	}
	return strings.TrimRight(fmt.Sprintf("%d  %s  %s  %s  %s  %s", l.Seq, l.At.Format("2006-01-02 15:04:05"), l.Actor.Agent,
		l.Event, moved, strings.ReplaceAll(l.Note, "\n", " ")+from(l.Actor)), " ")
}

func (o Options) addPrompts(s *mcp.Server) {
	for _, p := range prompts {
		if o.Role != p.role {
			continue
		}
		s.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title, Description: p.doc},
			func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{Description: p.doc, Messages: []*mcp.PromptMessage{
					{Role: "user", Content: &mcp.TextContent{Text: p.order}}}}, nil
			})
	}
}
