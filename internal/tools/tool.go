package tools

import (
	"context"
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools/wire"
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

	aside bool // always let through, and never a way on: allowed does not name it
	run   func(ctx context.Context, c *call) error
	// open narrows when the tool is available beyond its events; nil for always.
	open func(situation) bool
}

// An Arg is one argument of a tool.
type Arg = wire.Arg

// claim names the holder where a connection is not one; see the server's sessions.
var claim = Arg{Name: "claim", Doc: "claim id from wait_for_task; only needed over HTTP", Line: engine.MaxLine, Optional: true}

// For reports whether the role has the tool.
func (t Tool) For(role state.Role) bool { return slices.Contains(t.Roles, role) }

// Look reports whether the tool raises no event.
func (t Tool) Look() bool { return len(t.Events) == 0 }

// wire is the tool as its callers know it.
func (t Tool) wire() wire.Tool {
	return wire.Tool{Name: t.Name, Title: t.Title, Doc: t.Doc, ReadOnly: t.ReadOnly, Args: t.Args}
}
