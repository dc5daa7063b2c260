package tools

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A Tool is one row of the catalogue.
type Tool struct {
	Name     string
	Title    string
	Doc      string        // what it does, when to call it, what comes next
	Roles    []state.Role  // who has it
	Events   []state.Event // any of which makes it available; empty for a look, which any state allows
	ReadOnly bool
	Args     []Arg

	run func(ctx context.Context, c *call) error
	// open narrows when the tool is available beyond its events; nil for always.
	open func(situation) bool
}

// An Arg is one argument of a tool.
type Arg struct {
	Name     string
	Doc      string
	List     bool // of strings, each one line; else a string
	Line     bool // at most 200 characters, one line; else a document
	Optional bool
}

// claim names the holder where a connection is not one; see the server's sessions.
var claim = Arg{Name: "claim", Doc: "claim id from wait_for_task; only needed over HTTP", Line: true, Optional: true}

// For reports whether the role has the tool.
func (t Tool) For(role state.Role) bool { return slices.Contains(t.Roles, role) }

// Look reports whether the tool raises no event.
func (t Tool) Look() bool { return len(t.Events) == 0 }

// definition is the tool as clients see it.
func (t Tool) definition() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Doc, InputSchema: t.schema(),
		// Loaded at once: a model that must first search for wait_for_task does not find it.
		Meta:        mcp.Meta{"anthropic/alwaysLoad": true},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// object is a JSON schema with its keys in a fixed order.
type object struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties,omitempty"`
	Required   []string            `json:"required,omitempty"`
	Additional bool                `json:"additionalProperties"`
}

type property struct {
	Type  string    `json:"type"`
	Doc   string    `json:"description,omitempty"`
	Items *property `json:"items,omitempty"`
}

func (t Tool) schema() object {
	o := object{Type: "object"}
	for _, a := range t.Args {
		if o.Properties == nil {
			o.Properties = map[string]property{}
		}
		p := property{Type: "string", Doc: a.Doc}
		if a.List {
			p.Type, p.Items = "array", &property{Type: "string"}
		}
		o.Properties[a.Name] = p
		if !a.Optional {
			o.Required = append(o.Required, a.Name)
		}
	}
	return o
}
