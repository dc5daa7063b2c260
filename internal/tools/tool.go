package tools

import (
	"context"
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// A Tool is one row of the catalogue.
type Tool struct {
	Name     string
	Title    string
	Doc      string        // what it does, when to call it, what comes next
	Roles    []state.Role  // who has it
	Events   []state.Event // each of them makes it available; empty for a tool that only reads, which any state allows
	ReadOnly bool
	Args     []Arg

	aside bool // always allowed, but never the next step, so allowed does not name it
	run   func(ctx context.Context, c *call) error
	// open restricts when the tool is available beyond its events; nil means no restriction.
	open func(situation) bool
}

// An Arg is one argument of a tool.
type Arg = gate.Arg

// claim names the claim where a connection does not identify it; see the server's sessions. namedClaim is the same, with the
// description that the other tools do not repeat.
var (
	claim      = Arg{Name: "claim", Line: handover.MaxLine, Optional: true}
	namedClaim = Arg{Name: "claim", Doc: "claim id from an earlier call; only needed over HTTP, then in all later calls", Line: handover.MaxLine, Optional: true}
)

// For reports whether the role has the tool.
func (t Tool) For(role state.Role) bool { return slices.Contains(t.Roles, role) }

// Look reports whether the tool raises no event.
func (t Tool) Look() bool { return len(t.Events) == 0 }

// wire returns the tool as clients see it.
func (t Tool) wire() gate.Tool {
	return gate.Tool{Name: t.Name, Title: t.Title, Doc: t.Doc, ReadOnly: t.ReadOnly, Args: t.Args}
}
