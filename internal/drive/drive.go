// Package drive is the client's side of a ferrus server: it starts one as a process, speaks MCP to it over stdio, and
// hands back its results. The demonstration and the tests drive real servers with it.
package drive

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/tools"
)

// A Client is connected to a server process of its own. Close or Kill it.
type Client struct {
	session *mcp.ClientSession
	cmd     *exec.Cmd
}

// Start starts cmd, which must be a ferrus server that has not been started, and connects to it as a client called
// name.
func Start(ctx context.Context, name string, cmd *exec.Cmd) (*Client, error) {
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cmd.Path, err)
	}
	return &Client{session, cmd}, nil
}

// Call calls a tool. What ferrus refuses is a result, with its code; an error is one of the protocol, such as an
// unknown tool, or of the connection.
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

// Session returns the SDK's session, for what is no tool call.
func (c *Client) Session() *mcp.ClientSession { return c.session }

// Process returns the server's process.
func (c *Client) Process() *os.Process { return c.cmd.Process }

// Kill ends the server with SIGKILL, as a crash would, and waits until it is gone.
func (c *Client) Kill() {
	_ = c.cmd.Process.Kill() // an error means that it is gone already
	_ = c.session.Close()
}

// Close lets the client leave: the server sees the end of its input and ends.
func (c *Client) Close() error { return c.session.Close() }
