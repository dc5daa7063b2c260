// Package worker offers a worker of a pipeline its MCP tools: read its assignment, wait for its
// inputs, write its output, ask for the remaining time. The final worker can also have a tool that
// sends the result.
//
// internal/pipeline/run decides what an attempt of a worker may do, and whether the attempt still
// counts. This package adds the words: one catalogue (catalogue.go), one gate (internal/tools/gate, with
// call.go), and one
// struct as the answer of every tool ([Result]). A worker that only follows the field next of each
// answer reaches its end. No argument of a tool is a path.
package worker

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// Options configure a server.
type Options struct {
	Run     string        // absolute path of the folder of the run
	Worker  string        // its role in the run
	Attempt int           // number of the attempt, from 1
	Wait    time.Duration // the longest that one call waits; wait_timeout_secs of ferrus.toml when zero
	Version string        // of ferrus
	Log     *slog.Logger  // slog.Default when nil

	every time.Duration   // between progress notifications; 10 s when zero
	sends *sync.WaitGroup // what is being sent, whether or not its call still waits; not nil
	gate  *gate.Gate
}

// NewServer returns the MCP server of one attempt of a worker. If the run cannot be opened, each
// call is answered with that error.
func NewServer(opts Options) *mcp.Server {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.sends == nil {
		opts.sends = new(sync.WaitGroup)
	}
	opts.gate = &gate.Gate{Watchdog: gate.Watchdog{Log: opts.Log}, Every: opts.every, Stuck: stuck}
	at := &place{opts: opts}
	who := at.binding()
	s := gate.NewServer(opts.Version, who.instructions(), &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, opts.Log)
	for _, t := range Catalogue() {
		s.AddTool(t.of(who).Definition(), at.handler(t, who))
	}
	s.AddReceivingMiddleware(who.unlisted)
	return s
}

// unlisted removes from the list the tools that the worker does not have. A call of one says which
// worker has it.
func (who binding) unlisted(handle mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := handle(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
			own := *list
			own.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *mcp.Tool) bool { return !who.has(t.Name) })
			return &own, nil
		}
		return res, err
	}
}
