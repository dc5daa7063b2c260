//go:build unix

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// BenchmarkStdioCall is a call over stdio: status, which only looks, and progress, which commits an event. Beside them is
// a call of a tool of the SDK's alone. They take turns, so that whatever else the machine does hits all.
func BenchmarkStdioCall(b *testing.B) {
	dir := newProject(b, `"true"`)
	e, err := engine.Open(project.At(dir, ""), engine.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Session(engine.Caller{Role: state.Human, Agent: "human"}).CreateTask(b.Context(), "Build it.", ""); err != nil {
		b.Fatal(err)
	}
	ours, bare := connected(b, "ferrusd", dir, "--role", "executor"), connected(b, "bare", dir)
	called(b, ours, "wait_for_task", nil)

	took := map[string][]time.Duration{}
	for b.Loop() {
		took["status"] = append(took["status"], called(b, ours, "status", nil))
		took["bare"] = append(took["bare"], called(b, bare, "status", nil))
		note := map[string]any{"note": fmt.Sprint("note ", len(took["progress"]))}
		took["progress"] = append(took["progress"], called(b, ours, "progress", note))
	}
	quantiles(b, took)
}

// connected is a client of this test binary as another program.
func connected(b *testing.B, what, dir string, args ...string) *mcp.ClientSession {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), as+"="+what)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "b", Version: "1"}, nil).
		Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// called returns how long a call took, which must succeed.
func called(b *testing.B, c *mcp.ClientSession, tool string, args map[string]any) time.Duration {
	b.Helper()
	if args == nil {
		args = map[string]any{}
	}
	began := time.Now()
	res, err := c.CallTool(b.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || res.IsError {
		b.Fatalf("%s: %v %+v", tool, err, res)
	}
	return time.Since(began)
}

func quantiles(b *testing.B, took map[string][]time.Duration) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for name, list := range took {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Nanoseconds())/1000, name+"-p50-µs")
		b.ReportMetric(float64(list[len(list)*99/100].Nanoseconds())/1000, name+"-p99-µs")
	}
}

// TestTheListOnTheWireIsSmall counts what a client really receives.
func TestTheListOnTheWireIsSmall(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	for _, role := range []string{"supervisor", "executor"} {
		w := ferrusd(t, dir, role)
		result := w.request("tools/list", "{}").Result
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(result, &list); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tools, %d bytes", role, len(list.Tools), len(result))
		if len(list.Tools) > 12 || len(result) > 6144 {
			t.Errorf("%s: %d tools, %d bytes", role, len(list.Tools), len(result))
		}
	}
}
