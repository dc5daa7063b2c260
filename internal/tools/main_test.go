package tools

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// scratch is a folder for what all tests share; TestMain sets it and removes it.
var scratch string

func TestMain(m *testing.M) {
	slog.SetLogLoggerLevel(slog.LevelWarn) // thousands of calls, each with a line
	checks.Helper()
	os.Exit(kit.Main(func() int { return kit.Scratch(&scratch, func() int { return sharedtest.Main(m.Run) }) }))
}

// connect connects a client to a server.
func connect(t *testing.T, s *mcp.Server, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	server, err := s.Connect(ctx, there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client
}
