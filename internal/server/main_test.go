//go:build unix

package server

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// as names what the test binary is, beside a test.
const as = "FERRUS_TEST_AS"

// scratch is a folder for what all tests share; TestMain sets it and removes it.
var scratch string

// TestMain is also the programs that the tests need: the check helper, ferrusd, one with a tool that panics, and a
// server of the SDK alone to compare with.
func TestMain(m *testing.M) {
	checks.Helper()
	switch os.Getenv(as) {
	case "ferrusd":
		os.Exit(Main("ferrusd", os.Args[1:], nil))
	case "broken":
		os.Exit(broken())
	case "bare":
		os.Exit(bareServer())
	case "bare-http":
		os.Exit(bareHTTP())
	}
	for _, name := range []string{"FERRUS_ROOT", "MCPGODEBUG"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	os.Exit(kit.Main(func() int { return kit.Scratch(&scratch, func() int { return sharedtest.Main(m.Run) }) }))
}

// broken serves like ferrusd, with a bug in one tool.
func broken() int {
	s := tools.NewServer(tools.Options{Role: state.Executor})
	s.AddTool(&mcp.Tool{Name: "bug", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("a bug") })
	if err := s.Run(context.Background(), overStdio(os.Stdin, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 0
}

// bareServer is what the SDK's own example of a server does.
func bareServer() int {
	if err := bare().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 0
}

func bare() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	type in struct{}
	mcp.AddTool(s, &mcp.Tool{Name: "status", Description: "says how it is"},
		func(context.Context, *mcp.CallToolRequest, in) (*mcp.CallToolResult, map[string]string, error) {
			return nil, map[string]string{"state": "Idle"}, nil
		})
	return s
}
