// Package tools offers the engine as MCP tools.
//
// The catalogue (catalogue.go) lists them: a tool is a name, the roles that have it, the events
// that it raises, its arguments, and a function. The role of the caller decides which tools a
// connection has; the state decides whether a call succeeds. The list does not change during a
// connection. Every call passes one gate (internal/tools/gate, with call.go), and every tool answers
// with one struct ([Result]). An agent that only follows the field next of each answer reaches the
// end of every path.
//
// internal/tools/gate defines tools and decodes their arguments, internal/server has the transports.
//
// Start reading at catalogue.go.
package tools

import (
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// None is the role of a connection without a role: it may only read.
const None state.Role = ""

// Options configure a server.
type Options struct {
	Role     state.Role    // Supervisor, Executor or None; every connection of the server has it
	Wait     time.Duration // the longest that one call waits; wait_timeout_secs of ferrus.toml when zero
	Headless bool          // non-interactive: an agent without work stops instead of waiting
	Remote   bool          // callers may have no session: results ask them to name their claim or subject
	Version  string        // of ferrus
	Log      *slog.Logger  // slog.Default when nil

	// Session returns the session of the connection that sent a request. An error becomes the
	// answer to the call.
	Session func(req *mcp.CallToolRequest) (*engine.Session, error)
	// Engine returns the engine for resources and prompts.
	Engine func() (*engine.Engine, error)

	// Delegates reports whether the task of the connection may have delegates. Until it is known, a list
	// has no tool for them. Nil means that there are none.
	Delegates func() bool

	// Locks describes the locks that a call may wait for, for the log of a call that hangs. It does
	// not wait. Nil means no locks.
	Locks func() string

	// Run returns the run of the agent that calls, for the log, "" if a person started the agent. Nil
	// for a server with many clients.
	Run func() string

	every time.Duration // between progress notifications; 10 s when zero
	gate  *gate.Gate
}

// NewServer returns the MCP server of one role.
func NewServer(opts Options) *mcp.Server {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.gate == nil {
		opts.gate = &gate.Gate{Watchdog: gate.Watchdog{Log: opts.Log, Locks: opts.Locks}, Every: opts.every, Stuck: stuck}
	}
	s := gate.NewServer(opts.Version, opts.instructions(), &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{},
		Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}}, opts.Log)
	for _, t := range Catalogue() {
		if t.For(opts.Role) && (t.Name != delegateTool || opts.Delegates != nil) {
			s.AddTool(t.wire().Definition(), opts.handler(t))
		}
	}
	if opts.Delegates != nil {
		s.AddReceivingMiddleware(opts.hideDelegate)
	}
	opts.addResources(s)
	opts.addPrompts(s)
	return s
}
