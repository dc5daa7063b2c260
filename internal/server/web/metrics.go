package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
)

// durations are how long the messages of clients took, since the server was started: mcp.server.operation.duration of the conventions of
// OpenTelemetry.
type durations struct {
	mu  sync.Mutex
	all map[operation]*format.Spread
}

// An operation is what durations tell apart. Each part is one of few: no client can make up another.
type operation struct{ method, tool, wrong string }

// operationBounds are the buckets of the conventions, in seconds.
var operationBounds = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// measure is the middleware that counts messages.
func (d *durations) measure(handle mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		began := time.Now()
		result, err := handle(ctx, method, req)
		d.add(operationOf(method, req, result, err), time.Since(began))
		return result, err
	}
}

func (d *durations) add(of operation, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[operation]*format.Spread{}
	}
	if d.all[of] == nil {
		d.all[of] = &format.Spread{}
	}
	d.all[of].Observe(took.Seconds(), operationBounds)
}

// operationOf names a message. A tool is named once it has answered: only those that there are do. A method that there is not is an error of
// JSON-RPC, and has no name.
func operationOf(method string, req mcp.Request, result mcp.Result, err error) (of operation) {
	of.method = method
	var wrong *jsonrpc.Error
	switch {
	case errors.As(err, &wrong):
		of.wrong = strconv.FormatInt(wrong.Code, 10)
		if wrong.Code == jsonrpc.CodeMethodNotFound {
			of.method = "_OTHER"
		}
	case err != nil:
		of.wrong = "_OTHER"
	}
	if call, ok := req.(*mcp.CallToolRequest); ok && err == nil {
		of.tool = call.Params.Name
		if r, ok := result.(*mcp.CallToolResult); ok && r.IsError {
			of.wrong = "tool_error"
		}
	}
	return of
}

// metric returns them as a family.
func (d *durations) metric() format.Metric {
	m := format.Metric{Name: "mcp_server_operation_duration_seconds", Type: "histogram", Help: "How long messages of clients took, since the server was started."}
	d.mu.Lock()
	defer d.mu.Unlock()
	for of, s := range d.all {
		labels := []string{"mcp_method_name", of.method}
		for _, l := range [][2]string{{"gen_ai_tool_name", of.tool}, {"error_type", of.wrong}} {
			if l[1] != "" {
				labels = append(labels, l[0], l[1])
			}
		}
		m.AddSpread(*s, operationBounds, labels...)
	}
	return m
}

// metrics answers a scrape of Prometheus. Only a token of the role metrics may ask; it may do nothing else, since no server serves its role.
func (s *Site) metrics(w http.ResponseWriter, r *http.Request) {
	if !s.allow(w, r, http.MethodGet, http.MethodHead) {
		return
	}
	token, ok := s.tokenOf(w, r)
	switch {
	case !ok:
		return
	case token.Role != tokens.Metrics:
		s.refuse(w, r, http.StatusForbidden, "the numbers need a token of the role metrics; a person creates one with ferrus token new --role metrics")
		return
	case s.opts.Metrics == nil:
		s.refuse(w, r, http.StatusNotFound, "this server has no numbers")
		return
	}
	if status := s.calls.take(token.ID); status != 0 {
		w.Header().Set("Retry-After", "1")
		s.refuse(w, r, status, "too many calls at once; wait for some of them to end")
		return
	}
	defer s.calls.leave(token.ID)
	all, err := s.opts.Metrics(r.Context())
	if err != nil {
		s.log.Error("metrics", "error", err)
		s.refuse(w, r, http.StatusInternalServerError, "the numbers cannot be read; the server's log says why")
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = format.WriteMetrics(w, append(all, s.took.metric())) // who asks has gone when it fails
}
