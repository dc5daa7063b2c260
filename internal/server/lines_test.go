//go:build unix

package server

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestABadLineDoesNotEndTheSession: whatever a client writes, the next call works, and stdout has nothing but messages.
func TestABadLineDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	w := ferrusd(t, newProject(t, `"true"`), "executor")
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	const status = `{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"status","arguments":{}}}`
	for _, tt := range []struct {
		name, line string
		code       int    // of the answer; 0 for none
		id         string // that it names
	}{
		{"a malformed line", `{"jsonrpc":"2.0","id":1,`, -32700, "null"},
		{"no JSON", `Content-Length: 100`, -32700, "null"},
		{"bytes", "\x00\xff\xfe", -32700, "null"},
		{"two messages on a line", status + status, -32700, "null"},
		{"a batch", `[` + status + `]`, -32600, "null"},
		{"an empty batch", `[]`, -32600, "null"},
		{"a text", `"hello"`, -32600, "null"},
		{"a number", `42`, -32600, "null"},
		{"null", `null`, -32600, "null"},
		{"an empty object", `{}`, -32600, "null"},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, "7"},
		{"a method that is no text", `{"jsonrpc":"2.0","id":"x","method":5}`, -32600, `"x"`},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
		{"keys in another case", `{"JSONRPC":"2.0","ID":7,"METHOD":"ping"}`, -32600, "7"},
		{"deep nesting", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"status","arguments":{"x":` + deep(2000) + `}}}`, -32600, "7"},
		{"very deep nesting", `{"jsonrpc":"2.0","id":7,"method":"ping","params":` + deep(200_000) + `}`, -32700, "null"},
		{"an over-long line", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 17<<20) + `"}}`, -32600, "null"},
		{"an over-long line that is no JSON", strings.Repeat("x", 17<<20), -32600, "null"},
		{"a method given twice", `{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}`, -32600, "7"},
		{"a method in two spellings", `{"jsonrpc":"2.0","id":7,"method":"ping","m\u0065thod":"tools/list"}`, -32600, "7"},
		{"a method in two cases", `{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/list"}`, -32600, "7"},
		{"a tool given twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"status","name":"check","arguments":{}}}`, -32600, "7"},
		{"arguments given twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"status","arguments":{},"arguments":{}}}`, -32600, "7"},
		{"an argument given twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"progress","arguments":{"note":"a","note":"b"}}}`, -32600, "7"},
		{"bytes after a message", `{"jsonrpc":"2.0","id":7,"method":"ping"} x`, -32700, "null"},
		{"an unknown method", `{"jsonrpc":"2.0","id":7,"method":"tools/destroy"}`, -32601, "7"},
		{"parameters that are a list", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, -32602, "7"},
		{"a call of nothing", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}`, -32602, "7"},
		{"a call without parameters", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, -32600, "7"},
		{"a hidden tool", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"approve","arguments":{}}}`, -32602, "7"},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":77,"result":{}}`, 0, ""},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/whatever"}`, 0, ""},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, 0, ""},
		{"an empty line", ``, 0, ""},
		{"blanks", " \t \r", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.send(tt.line)
			if tt.code != 0 {
				m := w.next()
				if m.Error == nil || m.Error.Code != tt.code || m.Error.Message == "" || string(m.ID) != tt.id {
					t.Fatalf("answered %+v, %+v", m, m.Error)
				}
			}
			if r := w.call("status", "{}"); r.State != state.Idle {
				t.Fatalf("the next call: %+v", r)
			}
		})
	}
	for _, odd := range []string{status + " \t", "  " + status, status + "\r"} {
		w.send(odd)
		if r := w.result(w.answerTo(`"s"`)); r.State != state.Idle {
			t.Errorf("blanks around a message: %+v", r)
		}
	}
	if code, _ := w.exit(w.leave); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestATruncatedLastLineEndsTheServerInOrder: a client that dies in the middle of a message is a client that has left.
func TestATruncatedLastLineEndsTheServerInOrder(t *testing.T) {
	t.Parallel()
	w := ferrusd(t, newProject(t, `"true"`), "executor")
	code, _ := w.exit(func() {
		w.in.Write([]byte(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"na`))
		w.leave()
	})
	if code != 0 || w.stderr.String() != "" {
		t.Errorf("exit %d, stderr %s", code, w.stderr)
	}
}

// TestAHiddenToolIsAnsweredLikeOneThatIsNot, to the byte.
func TestAHiddenToolIsAnsweredLikeOneThatIsNot(t *testing.T) {
	t.Parallel()
	w := ferrusd(t, newProject(t, `"true"`), "executor")
	said := map[string]string{}
	for _, tool := range []string{"approve", "no_such_tool"} {
		m := w.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool))
		text, err := json.Marshal(m.Error)
		if err != nil {
			t.Fatal(err)
		}
		said[tool] = strings.ReplaceAll(string(text), tool, "X")
	}
	if said["approve"] != said["no_such_tool"] || !strings.Contains(said["approve"], "-32602") {
		t.Errorf("%v", said)
	}
}

// TestBytesThatAreNoTextAreRefused: they are never stored as something else.
func TestBytesThatAreNoTextAreRefused(t *testing.T) {
	t.Parallel()
	w := ferrusd(t, newProject(t, `"true"`), "supervisor")
	for _, text := range []string{"a\xffb", "\xc3", "\xed\xa0\x80", `\ud800`, `\udfff\ud800`} {
		if r := w.call("create_task", `{"description":"`+text+`"}`); r.Code != refusal.InvalidInput || r.State != state.Idle {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if r := w.call("create_task", "{\"descripti\xffn\":\"d\"}"); r.Code != refusal.InvalidInput {
		t.Errorf("a name that is no text: %+v", r)
	}
	big := strings.Repeat("d", 1<<20+1)
	if r := w.call("create_task", `{"description":"`+big+`"}`); r.Code != refusal.TooLarge {
		t.Errorf("over 1 MiB: %+v", r)
	}
	r := w.do("create_task", `{"description":"\ud83d\ude00 `+"\u00e4"+`"}`)
	if r.Title != "😀 ä" {
		t.Errorf("the title is %q", r.Title)
	}
}

// TestABugEndsTheCallAndNotTheServer: nor does it write anything but messages to stdout.
func TestABugEndsTheCallAndNotTheServer(t *testing.T) {
	t.Parallel()
	w := start(t, "broken", t.TempDir())
	w.initialize("2025-11-25")
	for range 2 {
		if m := w.request("tools/call", `{"name":"bug","arguments":{}}`); m.Error == nil || m.Error.Code != -32603 {
			t.Errorf("a panicking tool: %+v", m)
		}
		// Our own tools have no session here: Options.Session is nil, a bug too.
		if r := w.result(w.request("tools/call", `{"name":"status","arguments":{}}`)); r.Code != refusal.OutcomeUnknown || r.Remedy == "" {
			t.Errorf("a panic behind the gate: %+v", r)
		}
	}
	if code, _ := w.exit(w.leave); code != 0 || !strings.Contains(w.stderr.String(), "a bug") { // what it says has all arrived when it has ended
		t.Errorf("exit %d, stderr %s", code, w.stderr)
	}
}

// TestAStderrThatNobodyReadsHoldsNobody: clients let it fill up.
func TestAStderrThatNobodyReadsHoldsNobody(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	unread, stderr := io.Pipe()
	defer unread.Close()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), Config{Agent: "test", Root: dir}, in, out, stderr) }() // without a role: it warns
	client, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "status"}); err != nil || res.IsError {
		t.Errorf("%v %+v", err, res)
	}
	_ = client.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
