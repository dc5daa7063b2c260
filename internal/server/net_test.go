//go:build unix

package server

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// An office is a server process that serves HTTP, and the tokens of its project.
type office struct {
	*wire
	dir    string
	addr   string
	tokens *tokens.Book
	secret map[state.Role]string
	client *http.Client // of raw requests, and of the SDK's clients
	scheme string
}

var transports = []string{"modern", "legacy", "sse"}

var listening = regexp.MustCompile(`level=INFO msg=listening address=(\S+) url=(https?)://\S+/mcp sse=https?://\S+/sse\n`)

// opened starts a server in a project, at a port of the system's choice, and waits until it says where it listens.
func opened(t testing.TB, dir string, args ...string) *office {
	t.Helper()
	o := &office{dir: dir, tokens: tokens.Open(filepath.Join(dir, ".ferrus")), secret: map[state.Role]string{}, client: http.DefaultClient}
	for _, role := range []state.Role{state.Supervisor, state.Executor} {
		secret, _, err := o.tokens.New(role, "remote", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		o.secret[role] = secret
	}
	o.wire = start(t, "ferrusd", dir, append([]string{"--http", "127.0.0.1:0", "--wait", "1"}, args...)...)
	every, over := time.NewTicker(time.Millisecond), time.After(kit.Patience)
	defer every.Stop()
	for o.addr == "" {
		select {
		case <-every.C:
			if m := listening.FindStringSubmatch(o.stderr.String()); m != nil {
				o.addr, o.scheme = m[1], m[2]
			}
		case <-o.ended:
			t.Fatalf("the server has ended; stderr %s", o.stderr)
		case <-over:
			t.Fatalf("the server does not say where it listens; stderr %s", o.stderr)
		}
	}
	return o
}

// A bearer adds a token to each request.
type bearer struct {
	secret string
	base   http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.secret)
	return b.base.RoundTrip(r)
}

// A visitor is a client of the SDK.
type visitor struct {
	t *testing.T
	*mcp.ClientSession
	claim string // that it names with each call, as a client without a session must
}

// visit connects a client.
func (o *office) visit(t *testing.T, transport string, role state.Role, opts *mcp.ClientOptions) *visitor {
	t.Helper()
	v, err := o.dial(t, transport, o.secret[role], opts)
	if err != nil {
		t.Fatalf("%s: %v", transport, err)
	}
	return v
}

func (o *office) dial(t *testing.T, transport, secret string, opts *mcp.ClientOptions) (*visitor, error) {
	t.Helper()
	base := o.client.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	base = base.(*http.Transport).Clone()
	t.Cleanup(base.(*http.Transport).CloseIdleConnections)
	hc := &http.Client{Transport: bearer{secret, base}}
	var way mcp.Transport = &mcp.StreamableClientTransport{Endpoint: o.scheme + "://" + o.addr + "/mcp", HTTPClient: hc, MaxRetries: -1}
	if transport == "sse" {
		way = &mcp.SSEClientTransport{Endpoint: o.scheme + "://" + o.addr + "/sse", HTTPClient: hc}
	}
	var as *mcp.ClientSessionOptions
	if transport == "legacy" {
		as = &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, opts).Connect(t.Context(), way, as)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = c.Close() }) // the server may have ended first
	return &visitor{t: t, ClientSession: c}, nil
}

// call calls a tool, naming the claim where it has one.
func (v *visitor) call(tool string, args map[string]any) tools.Result {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	all := map[string]any{}
	for k, a := range args {
		all[k] = a
	}
	if v.claim != "" {
		all["claim"] = v.claim
	}
	res, err := v.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: all})
	if err != nil {
		v.t.Fatalf("%s: %v", tool, err)
	}
	text, err := json.Marshal(res.StructuredContent)
	if err != nil {
		v.t.Fatal(err)
	}
	var r tools.Result
	if err := json.Unmarshal(text, &r); err != nil {
		v.t.Fatal(err)
	}
	if res.IsError != (r.Code != "") {
		v.t.Errorf("isError %v in %s", res.IsError, text)
	}
	return r
}

// do calls a tool that must succeed, again while it is running.
func (v *visitor) do(tool string, args map[string]any) tools.Result {
	v.t.Helper()
	for {
		r := v.call(tool, args)
		if r.Code != "" {
			v.t.Fatalf("%s: %s: %s; %s", tool, r.Code, r.Message, r.Remedy)
		}
		if r.Status != "running" {
			return r
		}
	}
}

// raw sends a request of a message and returns the response, whose body is to be closed.
func (o *office) raw(t testing.TB, method, path, secret, body string, header map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, o.scheme+"://"+o.addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}
