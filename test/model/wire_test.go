package model

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/golden"
)

// The tools as the clients offer them.
const (
	claudeTools = `"tools":[{"name":"Bash","description":"d","input_schema":{"type":"object"}},
		{"name":"mcp__ferrus__check","input_schema":{"type":"object"}},
		{"name":"Later","input_schema":{"type":"object"},"defer_loading":true}]`
	codexTools = `"tools":[{"type":"function","name":"exec_command","parameters":{}},{"type":"custom","name":"apply_patch"},
		{"type":"web_search","external_web_access":false},
		{"type":"namespace","name":"mcp__ferrus","description":"d","tools":[{"type":"function","name":"check","parameters":{}}]},
		{"type":"namespace","name":"agents","tools":[{"type":"function","name":"spawn","parameters":{}}]}]`
	qwenTools = `"tools":[{"type":"function","function":{"name":"run_shell_command","parameters":{}}},
		{"type":"function","function":{"name":"mcp__ferrus__check","parameters":{}}},
		{"type":"function","function":{"name":"ferrus_status","parameters":{}}}]`
	geminiTools = `"tools":[{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":{}},{"name":"mcp_ferrus-run_check"}]}]`
)

// post sends a body and returns the whole answer as text: status, type, body.
func post(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, fmt.Sprintf("%d %s\n\n%s\n", resp.StatusCode, resp.Header.Get("Content-Type"), text)
}

var both = []Call{{Tool: "ferrus/check"}, {Tool: "Bash", Args: map[string]any{"command": "ls <a>"}}}

func TestRepliesOnTheWire(t *testing.T) {
	const user = `"messages":[{"role":"user","content":"go"}]`
	const contents = `"contents":[{"role":"user","parts":[{"text":"go"}]}]`
	two := Reply{Text: "both", Calls: []Call{{Tool: "ferrus/check"}, {Tool: "run_shell_command", Args: map[string]any{"command": "ls"}}},
		Usage: Usage{Input: 100, Cached: 50, Output: 7}}
	three := []Call{{Tool: "ferrus/check"}, {Tool: "exec_command", Args: map[string]any{"cmd": "ls"}}, {Tool: "apply_patch", Args: map[string]any{"input": "*** Begin"}}}
	for _, c := range []struct {
		name, path, body string
		reply            Reply
	}{
		{"messages-text", "/v1/messages?beta=true", `{"model":"m","stream":true,` + claudeTools + `,` + user + `}`, Say("hello")},
		{"messages-calls", "/v1/messages", `{"model":"m","stream":true,` + claudeTools + `,` + user + `}`,
			Reply{Text: "both", Calls: both, Usage: Usage{Input: 100, Cached: 50, Output: 7}}},
		{"messages-whole", "/v1/messages", `{"model":"m",` + claudeTools + `,` + user + `}`, Reply{Calls: both}},
		{"messages-empty", "/v1/messages", `{"model":"m",` + claudeTools + `,` + user + `}`, Reply{}},
		{"messages-side", "/v1/messages", `{"model":"m",` + user + `}`, Say("not asked")},
		{"messages-title", "/v1/messages", `{"model":"m",` + user + `,"output_config":{"format":{"type":"json_schema"}}}`, Say("not asked")},
		{"messages-limit", "/v1/messages", `{"model":"m","stream":true,` + claudeTools + `,` + user + `}`,
			Reply{Status: 429, Header: map[string]string{"Retry-After": "7"}}},
		{"responses-text", "/v1/responses", `{"model":"m","stream":true,` + codexTools + `,"input":"go"}`, Say("hello")},
		{"responses-calls", "/v1/responses", `{"model":"m","stream":true,` + codexTools + `,"input":"go"}`,
			Reply{Text: "all", Calls: three, Usage: Usage{Input: 100, Cached: 50, Output: 7}}},
		{"responses-whole", "/v1/responses", `{"model":"m",` + codexTools + `,"input":"go"}`, Reply{Calls: three}},
		{"responses-side", "/v1/responses", `{"model":"m","input":"go","text":{"format":{"type":"json_schema"}}}`, Say("not asked")},
		{"responses-login", "/v1/responses", `{"model":"m","stream":true,` + codexTools + `,"input":"go"}`, Reply{Status: 401}},
		{"chat-text", "/v1/chat/completions", `{"model":"m","stream":true,` + qwenTools + `,` + user + `}`, Say("hello")},
		{"chat-calls", "/v1/chat/completions", `{"model":"m","stream":true,` + qwenTools + `,` + user + `}`, two},
		{"chat-whole", "/v1/chat/completions", `{"model":"m",` + qwenTools + `,` + user + `}`, two},
		{"chat-side", "/v1/chat/completions", `{"model":"m",` + user + `,"response_format":{"type":"json_object"}}`, Say("not asked")},
		{"generate-text", "/v1beta/models/m:streamGenerateContent?alt=sse", `{` + geminiTools + `,` + contents + `}`, Say("hello")},
		{"generate-calls", "/v1beta/models/m:streamGenerateContent?alt=sse", `{` + geminiTools + `,` + contents + `}`, two},
		{"generate-whole", "/v1beta/models/m:generateContent", `{` + geminiTools + `,` + contents + `}`, two},
		{"generate-side", "/v1beta/models/m:generateContent", `{` + contents + `,"generationConfig":{"responseJsonSchema":{}}}`, Say("not asked")},
		{"count", "/v1/messages/count_tokens", `{"model":"m",` + user + `}`, Reply{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Start(t, func(Request) Reply { return c.reply })
			resp, got := post(t, s.URL("x")+c.path, c.body)
			if _, again := post(t, s.URL("x")+c.path, c.body); again != got {
				t.Errorf("the same request is answered otherwise:\n%s", again)
			}
			if want := c.reply.Header["Retry-After"]; resp.Header.Get("Retry-After") != want {
				t.Errorf("Retry-After is %q, want %q", resp.Header.Get("Retry-After"), want)
			}
			golden.Check(t, filepath.Join("testdata", c.name+".golden"), got)
		})
	}
}

// TestWhatElseTheClientsAsk: they look whether there is anybody, and for models.
func TestWhatElseTheClientsAsk(t *testing.T) {
	s := Start(t, func(Request) Reply { return Reply{} })
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/v1/models?client_version=1", `{"data":[],"has_more":false,"models":[],"object":"list"}`}, {"HEAD", "/", ""},
	} {
		req, err := http.NewRequest(c.method, s.URL("x")+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || string(body) != c.want {
			t.Errorf("%s %s: %d %q %v", c.method, c.path, resp.StatusCode, body, err)
		}
	}
	if n := len(s.Seen()); n != 0 {
		t.Errorf("%d requests of a model", n)
	}
}

// TestAHangingModelLetsGo of a client that leaves, and of all when the test is over.
func TestAHangingModelLetsGo(t *testing.T) {
	var s *Server
	began := time.Now()
	t.Run("test", func(t *testing.T) {
		s = Start(t, func(r Request) Reply { return Reply{Hang: r.Key == "hang", Delay: 30 * time.Millisecond} })
		go func() {
			resp, err := http.Post(s.URL("hang")+"/v1/responses", "", strings.NewReader(`{"input":"go",`+codexTools+`}`))
			if err == nil {
				resp.Body.Close()
			}
		}()
		post(t, s.URL("slow")+"/v1/responses", `{"input":"go",`+codexTools+`}`)
		for len(s.Seen()) < 2 {
			time.Sleep(time.Millisecond)
		}
	})
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("the answer came before its delay, after %v", took)
	}
}

// TestAWrongRequestIsLoud: it is refused, seen, and fails the test.
func TestAWrongRequestIsLoud(t *testing.T) {
	const use = `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}`
	const result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}`
	const call = `{"role":"user","content":"go"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`
	claude := func(messages string) string { return `{` + claudeTools + `,"messages":[` + messages + `]}` }
	codex := func(items string) string { return `{` + codexTools + `,"input":[` + items + `]}` }
	for _, c := range []struct{ path, body, want string }{
		{"/v1/messages", `{`, "unexpected end of JSON input"},
		{"/v1/messages", claude(``), "a conversation without a prompt"},
		{"/v1/messages", claude(use), "no result of the call a of Bash"},
		{"/v1/messages", claude(use + `,` + result + `,` + result), "message 3 of user: two results of the call a of Bash"},
		{"/v1/messages", claude(`{"role":"user","content":"go"},` + result), `a result of the call "a", which nobody made`},
		{"/v1/messages", claude(use + `,` + strings.Replace(use, `{"role":"user","content":"go"},`, "", 1)), "two calls have the id a"},
		{"/v1/messages", claude(`{"role":"tool","content":"go"}`), "message 0 of tool: no such role"},
		{"/v1/messages", claude(`{"role":"user","content":[{"type":"image"}]}`), `a block of the type "image"`},
		{"/v1/messages", claude(use + `,` + strings.Replace(result, `"x"`, `[{"type":"image"}]`, 1)), `content of the type "image"`},
		{"/v1/messages", `{"tools":[{"name":"x"}],"messages":[]}`, `the tool "x" has no name or no schema`},
		{"/v1/responses", codex(call), "no result of the call a of f"},
		{"/v1/responses", codex(`{"type":"function_call","call_id":"a","name":"f","arguments":"{"}`), "arguments of f: unexpected end"},
		{"/v1/responses", codex(`{"type":"function_call_output","call_id":"b","output":""}`), `a result of the call "b", which nobody made`},
		{"/v1/responses", codex(`{"type":"dream"}`), "item 0, dream: no such type of item"},
		{"/v1/responses", codex(`{"role":"user","content":7}`), "neither a text nor a list"},
		{"/v1/responses", `{"tools":[{"type":"wand","name":"w"}],"input":"go"}`, `a tool "w" of the type "wand"`},
		{"/v1/responses", `{"tools":[{"type":"function"}],"input":"go"}`, "a tool without a name"},
		{"/v1/chat/completions", `{"messages":[{"role":"x","content":"go"}]}`, "message 0 of x: no such role"},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, `content of the type "image_url"`},
		{"/v1/chat/completions", `{"messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`, `a result of the call "a", which nobody made`},
		{"/v1/chat/completions", `{"tools":[{"type":"wand","function":{"name":"w"}}]}`, `a tool "w" of the type "wand"`},
		{"/v1beta/models/m:generateContent", `{"contents":[{"role":"x"}]}`, `no such role as "x"`},
		{"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{}]}]}`, "a part without a text or a function"},
		{"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"functionResponse":{"id":"a"}}]}]}`, `a result of the call "a", which nobody made`},
		{"/v1beta/models/m:dream", `{}`, "nothing is known of POST /v1beta/models/:dream"},
		// What the policy does wrong.
		{"/v1/responses", codex(`{"role":"user","content":"go"}`), "the model wants Fly, but is offered [exec_command apply_patch web_search ferrus/check agents/spawn]"},
	} {
		loud := &recorder{TB: t}
		s := Start(loud, func(Request) Reply { return Use("Fly", nil) })
		_, got := post(t, s.URL("x")+c.path, c.body)
		seen := s.Seen()
		loud.end()
		if len(loud.errors) != 1 || !strings.Contains(loud.errors[0], c.want) || !strings.HasPrefix(got, "40") || len(seen) != 1 || seen[0].Problem == "" {
			t.Errorf("%s %s\nerrors %q\nwant   %q\nanswer %s", c.path, c.body, loud.errors, c.want, got)
		}
	}
}

// A recorder is a test that is to fail.
type recorder struct {
	testing.TB
	errors []string
	ends   []func()
}

func (r *recorder) Helper()           {}
func (r *recorder) Cleanup(f func())  { r.ends = append(r.ends, f) }
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

func (r *recorder) end() {
	for _, f := range r.ends {
		f()
	}
}
