package web

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) {
	if err := os.Unsetenv("MCPGODEBUG"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A book is a Verifier of tests: secrets and whose they are.
type book struct {
	mu  sync.Mutex
	all map[string]tokens.Token
	err error

	asked int
}

func (b *book) Verify(secret string, now time.Time) (tokens.Token, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	t, ok := b.all[secret]
	switch {
	case b.err != nil:
		return tokens.Token{}, b.err
	case !ok:
		return tokens.Token{}, tokens.ErrUnknown
	case t.Expired(now):
		return tokens.Token{}, tokens.ErrExpired
	}
	return t, nil
}

func (b *book) revoke(secret string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, secret)
}

// The secrets of the book: one of an executor, two of supervisors, one that is no longer good, one of a role that
// nothing is served to.
const (
	worker, boss, chief, old, odd = "s-worker", "s-boss", "s-chief", "s-old", "s-odd"
)

// A place is a site that listens.
type place struct {
	t    *testing.T
	site *Site
	book *book
	addr string
	log  *buffer
	stop func() error // ends it and returns what Serve did

	held chan string // a call of hold has begun: the agent's name
	let  chan string // a call of hold was cancelled
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// serve makes a site with two tools for each role: who says who calls, hold shows progress until it is cancelled.
func serve(t *testing.T, change ...func(*Options)) *place {
	t.Helper()
	p := &place{t: t, log: &buffer{}, held: make(chan string, 1000), let: make(chan string, 1000)}
	p.book = &book{all: map[string]tokens.Token{
		worker: {ID: "tk-000001", Role: state.Executor, Name: "w"},
		boss:   {ID: "tk-000002", Role: state.Supervisor, Name: "b"},
		chief:  {ID: "tk-000003", Role: state.Supervisor, Name: "c"},
		old:    {ID: "tk-000004", Role: state.Supervisor, Name: "o", Expires: time.Now().Add(-time.Hour)},
		odd:    {ID: "tk-000005", Role: "human", Name: "h"},
	}}
	opts := Options{Tokens: p.book, Servers: map[state.Role]*mcp.Server{}, Log: slog.New(slog.NewTextHandler(p.log, nil))}
	opts.Limits.Watch = 5 * time.Millisecond
	for _, role := range []state.Role{state.Executor, state.Supervisor} {
		opts.Servers[role] = p.server(role)
	}
	for _, c := range change {
		c(&opts)
	}
	l, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	p.addr, p.site = l.Addr().String(), New(opts)
	p.run(l)
	return p
}

func (p *place) run(l net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.site.Serve(ctx, l, nil) }()
	p.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	p.t.Cleanup(func() {
		if err := p.stop(); err != nil {
			p.t.Error(err)
		}
	})
}

func (p *place) server(role state.Role) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: string(role), Version: "1"}, nil)
	empty := map[string]any{"type": "object"}
	s.AddTool(&mcp.Tool{Name: "who", InputSchema: empty}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c, ok := CallerOf(req)
		if !ok {
			return nil, fmt.Errorf("nobody")
		}
		text := fmt.Sprintf("%s %s %s %v", c.Token.ID, c.Token.Role, c.Token.Name, c.Session != "")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "hold", InputSchema: empty}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c, _ := CallerOf(req)
		p.held <- c.Token.Name
		defer func() { p.let <- c.Token.Name }()
		if token := req.Params.GetProgressToken(); token != nil {
			for i := range 3 {
				if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1)}); err != nil {
					return nil, err
				}
			}
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return s
}

// eventually waits for one value.
func eventually[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(kit.Patience):
		t.Fatalf("%s: nothing happens", what)
	}
	panic("unreachable")
}

// transports are the three ways in.
var transports = []string{"modern", "legacy", "sse"}

// A sender adds headers to each request.
type sender struct {
	header map[string]string
	base   http.RoundTripper
}

func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range s.header {
		r.Header.Set(k, v)
	}
	return s.base.RoundTrip(r)
}

// client connects a client of the SDK over one of the transports.
func (p *place) client(transport, secret string, opts *mcp.ClientOptions) *mcp.ClientSession {
	p.t.Helper()
	c, err := p.dial(p.t.Context(), transport, secret, opts)
	if err != nil {
		p.t.Fatalf("%s: %v", transport, err)
	}
	p.t.Cleanup(func() { _ = c.Close() }) // the site may have ended first
	return c
}

func (p *place) dial(ctx context.Context, transport, secret string, opts *mcp.ClientOptions) (*mcp.ClientSession, error) {
	base := &http.Transport{MaxIdleConnsPerHost: 10}
	p.t.Cleanup(base.CloseIdleConnections)
	hc := &http.Client{Transport: sender{map[string]string{"Authorization": "Bearer " + secret}, base}}
	mc := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, opts)
	switch transport {
	case "sse":
		return mc.Connect(ctx, &mcp.SSEClientTransport{Endpoint: "http://" + p.addr + "/sse", HTTPClient: hc}, nil)
	case "modern":
		return mc.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://" + p.addr + "/mcp", HTTPClient: hc, MaxRetries: -1}, nil)
	}
	return mc.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://" + p.addr + "/mcp", HTTPClient: hc, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
}

func call(ctx context.Context, c *mcp.ClientSession, tool string) (string, error) {
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool})
	if err != nil {
		return "", err
	}
	return res.Content[0].(*mcp.TextContent).Text, nil
}

// A raw request, as it stands on the wire.
type raw struct {
	method, path string
	header       map[string]string // "" deletes one; Host is the Host
	body         string
}

// send sends a request and returns the response; its body is to be closed.
func (p *place) send(r raw) *http.Response {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), r.method, "http://"+p.addr+r.path, strings.NewReader(r.body))
	if err != nil {
		p.t.Fatal(err)
	}
	for k, v := range r.header {
		if k == "Host" {
			req.Host = v
		}
		if v == "" {
			req.Header.Del(k)
		} else {
			req.Header.Set(k, v)
		}
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		p.t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	p.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// status is that of the response to a request, with its text if it was refused.
func (p *place) status(r raw) (int, string) {
	p.t.Helper()
	resp := p.send(r)
	defer resp.Body.Close()
	if resp.StatusCode < 300 {
		return resp.StatusCode, ""
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"t","version":"1"}}}`

// The four kinds of requests that come in first, good as they are.
func first(secret string) map[string]raw {
	auth := "Bearer " + secret
	accept := "application/json, text/event-stream"
	return map[string]raw{
		"legacy POST": {"POST", "/mcp", map[string]string{"Authorization": auth, "Content-Type": "application/json", "Accept": accept}, initialize},
		"modern POST": {"POST", "/mcp", map[string]string{"Authorization": auth, "Content-Type": "application/json", "Accept": accept,
			"Mcp-Protocol-Version": stateless, "Mcp-Method": "server/discover"},
			`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`},
		"sse GET": {"GET", "/sse", map[string]string{"Authorization": auth, "Accept": "text/event-stream"}, ""},
	}
}

// with returns the request with other headers.
func (r raw) with(header map[string]string) raw {
	all := map[string]string{}
	for k, v := range r.header {
		all[k] = v
	}
	for k, v := range header {
		all[k] = v
	}
	r.header = all
	return r
}

// openLegacy opens a session with raw requests and returns its id.
func (p *place) openLegacy(secret string) string {
	p.t.Helper()
	resp := p.send(first(secret)["legacy POST"])
	defer resp.Body.Close()
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || id == "" {
		p.t.Fatalf("initialize: %s", resp.Status)
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		p.t.Fatal(err)
	}
	return id
}

// openSSE opens a session with raw requests and returns its endpoint and the stream.
func (p *place) openSSE(secret string) (endpoint string, stream *bufio.Reader, resp *http.Response) {
	p.t.Helper()
	resp = p.send(first(secret)["sse GET"])
	stream = bufio.NewReader(resp.Body)
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			p.t.Fatalf("%s: %v", resp.Status, err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data), stream, resp
		}
	}
}
