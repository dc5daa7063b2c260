// Package mcpclient is an MCP client of a ferrus server. It starts a server as a process and talks
// to it over stdio, or connects to one over HTTP, and returns the results of tool calls. The demo
// and the tests use it; agents bring their own clients.
package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/tools"
)

// A Client is connected to a server. If Start has started the server, the client owns it. Call
// Close or Kill at the end.
type Client struct {
	session *mcp.ClientSession
	cmd     *exec.Cmd // nil when the client does not own the server
}

// Start starts cmd, which must be a ferrus server that has not been started, and connects to it as a client called
// name.
func Start(ctx context.Context, name string, cmd *exec.Cmd) (*Client, error) {
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	session, err := connect(ctx, name, &mcp.CommandTransport{Command: cmd})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cmd.Path, err)
	}
	return &Client{session, cmd}, nil
}

// Dial connects to the server at url, such as http://127.0.0.1:7433/mcp, with a token, as a client called name.
func Dial(ctx context.Context, name, url, token string) (*Client, error) {
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}
	session, err := connect(ctx, name, transport)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", url, err)
	}
	return &Client{session, nil}, nil
}

func connect(ctx context.Context, name string, transport mcp.Transport) (*mcp.ClientSession, error) {
	return mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(ctx, transport, nil)
}

// A bearer is a token that goes with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Call calls a tool. A refusal of ferrus is a result with a code. An error is one of the protocol,
// such as an unknown tool, or of the connection.
func (c *Client) Call(ctx context.Context, tool string, args map[string]any) (tools.Result, error) {
	var r tools.Result
	if args == nil {
		args = map[string]any{}
	}
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return r, fmt.Errorf("call %s: %w", tool, err)
	}
	text, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the result of %s: %w", tool, err)
	}
	return r, nil
}

// Session returns the SDK's session, for requests other than tool calls.
func (c *Client) Session() *mcp.ClientSession { return c.session }

// Process returns the process of the client's own server.
func (c *Client) Process() *os.Process { return c.cmd.Process }

// Kill ends the client's own server with SIGKILL, as a crash would, and waits for its end. It does
// not touch another server.
func (c *Client) Kill() {
	if c.cmd != nil {
		_ = c.cmd.Process.Kill() // an error means that it has exited already
	}
	_ = c.session.Close()
}

// Close disconnects the client. A server of its own reads the end of its input and ends.
func (c *Client) Close() error { return c.session.Close() }
