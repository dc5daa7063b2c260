//go:build unix

package server

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
)

// TestARoleIsNotLentByASession: a token of the other role in an open session gets 403 on both transports that have
// sessions, and where there are none the id of one lends nothing. What it tried is not done.
func TestARoleIsNotLentByASession(t *testing.T) {
	t.Parallel()
	o := opened(t, newProject(t, `"true"`))
	boss, crew := o.secret[state.Supervisor], o.secret[state.Executor]
	create := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"create_task","arguments":{"description":"d"}%s}}`
	older := map[string]string{"Mcp-Session-Id": o.visit(t, "legacy", state.Supervisor, nil).ID(), "Mcp-Protocol-Version": "2025-11-25"}
	newer := map[string]string{"Mcp-Session-Id": older["Mcp-Session-Id"], "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "create_task"}
	meta := `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	look := o.visit(t, "modern", state.Supervisor, nil)
	ways := []struct {
		name, path, body string
		header           map[string]string
		status, own      int
		says             string
	}{
		{"legacy", "/mcp", fmt.Sprintf(create, ""), older, 403, 200, "another token"},
		{"sse", o.endpoint(t, boss), fmt.Sprintf(create, ""), nil, 403, 202, "another token"},
		{"modern", "/mcp", fmt.Sprintf(create, meta), newer, 400, 200, `unknown tool \"create_task\"`},
	}
	bad := 0
	for _, way := range ways {
		resp := o.raw(t, "POST", way.path, crew, way.body, way.header)
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != way.status || !strings.Contains(string(text), way.says) || look.do("status", nil).State != state.Idle {
			bad++
			t.Errorf("%s: an executor in a supervisor's session: %s %s %v", way.name, resp.Status, text, err)
		}
	}
	// The same requests with the right token are served: of the three, the first creates the task.
	for _, way := range ways {
		if resp := o.raw(t, "POST", way.path, boss, way.body, way.header); resp.StatusCode != way.own {
			t.Errorf("%s: its own token: %s", way.name, resp.Status)
		}
	}
	if r := look.do("status", nil); r.State != state.Executing {
		t.Errorf("the supervisor's own calls: %s", r.State)
	}
	t.Logf("rig: cases=%d bad=%d", len(ways), bad)
}

// endpoint opens a session of the older SSE and returns where its messages go.
func (o *office) endpoint(t *testing.T, secret string) string {
	t.Helper()
	resp := o.raw(t, "GET", "/sse", secret, "", nil)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if path, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return path
		}
	}
	t.Fatalf("no endpoint: %s", resp.Status)
	return ""
}
