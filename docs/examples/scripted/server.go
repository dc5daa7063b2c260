package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A result is what the tools of ferrus return; docs/tools.md lists all fields.
type result struct {
	Status       string
	Code         string
	Message      string
	Remedy       string
	Task         string
	Review       string
	Submission   string
	Patch        string
	Consultation string
	LastCheck    struct {
		Failures []struct{ Command, Tail string }
	} `json:"last_check"`
}

// failures are the commands of the last check that failed, with the end of
// their output.
func (r result) failures() string {
	var b strings.Builder
	for _, f := range r.LastCheck.Failures {
		fmt.Fprintf(&b, "%s\n%s\n", f.Command, f.Tail)
	}
	return b.String()
}

// A server is the connection to the MCP server of ferrus.
type server struct{ session *mcp.ClientSession }

// connect starts the server that ferrus names and connects to it over stdio.
func connect(ctx context.Context) (*server, error) {
	line := os.Getenv("FERRUS_SERVER")
	if line == "" {
		return nil, fmt.Errorf("FERRUS_SERVER is not set: ferrus starts this program")
	}
	cmd := exec.Command("/bin/sh", "-c", "exec "+line) // its words are quoted for the shell
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "scripted", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to ferrus: %w", err)
	}
	return &server{session}, nil
}

// call calls a tool, and calls it again while a wait or a check goes on. A
// refusal is an error.
func (s *server) call(ctx context.Context, tool string, args map[string]any) (result, error) {
	if args == nil {
		args = map[string]any{}
	}
	for {
		answer, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return result{}, fmt.Errorf("call of %s not answered: %w", tool, err)
		}
		var r result
		text, err := json.Marshal(answer.StructuredContent)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return r, fmt.Errorf("result of %s not understood: %w", tool, err)
		}
		fmt.Printf("%s: %s %s\n", tool, r.Status, r.Message)
		switch {
		case r.Code != "":
			return r, fmt.Errorf("%s: %s: %s %s", tool, r.Code, r.Message, r.Remedy)
		case r.Status == "running" || r.Status == "timeout":
			continue
		}
		return r, nil
	}
}

func (s *server) close() { s.session.Close() }
