package gate

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// NewServer returns an MCP server without tools. The capabilities are explicit: no list of ferrus
// changes, and the logs of clients are theirs. The SDK's logger is silenced: it calls the departure
// of a client an error.
func NewServer(version, instructions string, can *mcp.ServerCapabilities, log *slog.Logger) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "ferrus", Title: "ferrus", Version: version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: can,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	s.AddReceivingMiddleware(survive(log))
	return s
}

// bug is the message to a client about a bug.
const bug = "ferrus has a bug here; it is in the server's log"

// ErrBug is the error of a call that panicked.
var ErrBug = errors.New(bug)

// bugError is the protocol error of a panic outside of the tools.
func bugError() error { return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: bug} }

// Safely runs f. A panic is a bug of ferrus: it is logged, and the error is ErrBug.
func Safely(log *slog.Logger, what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "in", what, "panic", p, "stack", string(debug.Stack()))
			err = ErrBug
		}
	}()
	return f()
}

// survive turns a panic outside of the tools into a protocol error. In the SDK it would end the
// process.
func survive(log *slog.Logger) mcp.Middleware {
	return func(handle mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			safe := Safely(log, method, func() error {
				res, err = handle(ctx, method, req)
				return nil
			})
			if safe != nil {
				return nil, bugError()
			}
			return res, err
		}
	}
}
