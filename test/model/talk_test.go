package model

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The same conversation, as the clients send it.
const (
	asMessages = `{"model":"m","system":[{"type":"text","text":"Be good."}],` + claudeTools + `,"messages":[
		{"role":"user","content":[{"type":"text","text":"<system-reminder>\nContext.</system-reminder>"},{"type":"text","text":"Do it."}]},
		{"role":"system","content":[{"type":"text","text":"These deferred tools are now available via ToolSearch:\nCronList\nLater\n\nAnd more."}]},
		{"role":"assistant","content":[{"type":"text","text":"Both."},{"type":"tool_use","id":"a","name":"mcp__ferrus__check","input":{"claim":"c"}},
			{"type":"tool_use","id":"b","name":"Bash","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},
			{"type":"tool_result","tool_use_id":"a","content":"{\"next\":\"submit\"}"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"Bash","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"Go on."}]}]}`
	asResponses = `{"model":"m","instructions":"Be good.",` + codexTools + `,"input":[
		{"type":"message","role":"developer","content":[{"type":"input_text","text":"More."}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context></environment_context>"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Do it."}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Both."}]},
		{"type":"function_call","call_id":"a","namespace":"mcp__ferrus","name":"check","arguments":"{\"claim\":\"c\"}"},
		{"type":"custom_tool_call","call_id":"b","name":"apply_patch","input":"p"},
		{"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two"}]},
		{"type":"function_call_output","call_id":"a","output":"Wall time: 0.1 seconds\nOutput:\n{\"next\":\"submit\"}"},
		{"type":"function_call","call_id":"c","namespace":"agents","name":"spawn","arguments":"{}"},
		{"type":"function_call_output","call_id":"c","output":""},
		{"type":"message","role":"user","content":"Go on."}]}`
	asChat = `{"model":"m",` + qwenTools + `,"messages":[
		{"role":"system","content":"Be good."},
		{"role":"user","content":[{"type":"text","text":"<system-reminder>\nContext.</system-reminder>"},{"type":"text","text":"Do it."}]},
		{"role":"assistant","content":"Both.","tool_calls":[{"id":"a","type":"function","function":{"name":"mcp__ferrus__check","arguments":"{\"claim\":\"c\"}"}},
			{"id":"b","type":"function","function":{"name":"run_shell_command","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},
		{"role":"tool","tool_call_id":"a","content":"{\"next\":\"submit\"}"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ferrus_status","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c","content":""},
		{"role":"user","content":"Go on."}]}`
	asGenerate = `{"systemInstruction":{"role":"user","parts":[{"text":"Be good."}]},` + geminiTools + `,"contents":[
		{"role":"user","parts":[{"text":"<session_context>\nContext.</session_context>"}]},
		{"role":"user","parts":[{"text":"Do it."}]},
		{"role":"model","parts":[{"text":"I wonder.","thought":true},{"text":"Both."},{"functionCall":{"id":"a","name":"mcp_ferrus-run_check","args":{"claim":"c"}}},
			{"functionCall":{"id":"b","name":"run_shell_command","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"b","name":"run_shell_command","response":{"error":"one\ntwo"}}},
			{"functionResponse":{"id":"a","name":"mcp_ferrus-run_check","response":{"output":"<untrusted_context>\n{\"next\":\"submit\"}\n</untrusted_context>"}}}]},
		{"role":"model","parts":[{"functionCall":{"id":"c","name":"run_shell_command","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"c","name":"run_shell_command","response":{"output":""}}},{"text":"Go on."}]}]}`
)

func TestAConversationIsReadWhole(t *testing.T) {
	claude, err := readMessages([]byte(asMessages))
	if err != nil {
		t.Fatal(err)
	}
	codex, err := readResponses([]byte(asResponses))
	if err != nil {
		t.Fatal(err)
	}
	chat, err := readChat([]byte(asChat))
	if err != nil {
		t.Fatal(err)
	}
	gemini, err := readGenerate("m", true, []byte(asGenerate))
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	submit := json.RawMessage(`{"next":"submit"}`)
	for _, c := range []struct {
		got      Request
		messages []Message
		tools    []string
		system   string
	}{
		{claude.Request, []Message{
			{Role: "system", Text: "<system-reminder>\nContext.</system-reminder>"},
			{Role: "user", Text: "Do it."},
			{Role: "system", Text: "These deferred tools are now available via ToolSearch:\nCronList\nLater\n\nAnd more."},
			{Role: "assistant", Text: "Both.", Calls: []Call{
				{Tool: "ferrus/check", Args: object{"claim": "c"}, ID: "a", Result: &Result{Text: `{"next":"submit"}`, JSON: submit}},
				{Tool: "Bash", Args: object{}, ID: "b", Result: &Result{Text: "one\ntwo", Error: true}}}},
			{Role: "assistant", Calls: []Call{{Tool: "Bash", Args: object{}, ID: "c", Result: &Result{}}}},
			{Role: "user", Text: "Go on."},
		}, []string{"Bash", "ferrus/check", "Later", "CronList"},
			"Be good.\n<system-reminder>\nContext.</system-reminder>\nThese deferred tools are now available via ToolSearch:\nCronList\nLater\n\nAnd more."},
		{codex.Request, []Message{
			{Role: "system", Text: "More."},
			{Role: "user", Text: "<environment_context></environment_context>"},
			{Role: "user", Text: "Do it."},
			{Role: "assistant", Text: "Both.", Calls: []Call{
				{Tool: "ferrus/check", Args: object{"claim": "c"}, ID: "a",
					Result: &Result{Text: "Wall time: 0.1 seconds\nOutput:\n{\"next\":\"submit\"}", JSON: submit}},
				{Tool: "apply_patch", Args: object{"input": "p"}, ID: "b", Result: &Result{Text: "one\ntwo"}}}},
			{Role: "assistant", Calls: []Call{{Tool: "agents/spawn", Args: object{}, ID: "c", Result: &Result{}}}},
			{Role: "user", Text: "Go on."},
		}, []string{"exec_command", "apply_patch", "web_search", "ferrus/check", "agents/spawn"}, "Be good.\nMore."},
		{chat.Request, []Message{
			{Role: "system", Text: "Be good."},
			{Role: "system", Text: "<system-reminder>\nContext.</system-reminder>"},
			{Role: "user", Text: "Do it."},
			{Role: "assistant", Text: "Both.", Calls: []Call{
				{Tool: "ferrus/check", Args: object{"claim": "c"}, ID: "a", Result: &Result{Text: `{"next":"submit"}`, JSON: submit}},
				{Tool: "run_shell_command", Args: object{}, ID: "b", Result: &Result{Text: "one\ntwo"}}}},
			{Role: "assistant", Calls: []Call{{Tool: "ferrus/status", Args: object{}, ID: "c", Result: &Result{}}}},
			{Role: "user", Text: "Go on."},
		}, []string{"run_shell_command", "ferrus/check", "ferrus/status"}, "Be good.\n<system-reminder>\nContext.</system-reminder>"},
		{gemini.Request, []Message{
			{Role: "user", Text: "<session_context>\nContext.</session_context>"},
			{Role: "user", Text: "Do it."},
			{Role: "assistant", Text: "Both.", Calls: []Call{
				{Tool: "ferrus/check", Args: object{"claim": "c"}, ID: "a",
					Result: &Result{Text: "<untrusted_context>\n{\"next\":\"submit\"}\n</untrusted_context>", JSON: submit}},
				{Tool: "run_shell_command", Args: object{}, ID: "b", Result: &Result{Text: "one\ntwo", Error: true}}}},
			{Role: "assistant", Calls: []Call{{Tool: "run_shell_command", Args: object{}, ID: "c", Result: &Result{}}}},
			{Role: "user", Text: "Go on."},
		}, []string{"run_shell_command", "ferrus/check"}, "Be good."},
	} {
		t.Run(string(c.got.API), func(t *testing.T) {
			var tools []string
			for _, tool := range c.got.Tools {
				tools = append(tools, tool.String())
			}
			if diff := cmp.Diff(c.messages, c.got.Messages); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.tools, tools); diff != "" {
				t.Error(diff)
			}
			if c.got.System != c.system || c.got.Prompt != "Do it." || c.got.Replies != 2 || c.got.Model != "m" {
				t.Errorf("system %q, prompt %q, %d replies, model %q", c.got.System, c.got.Prompt, c.got.Replies, c.got.Model)
			}
		})
	}
}

func TestTheObjectOfAResult(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `x`: ``, `{`: ``, `[1]`: ``, ` {"a":1} `: `{"a":1}`, "Wall time: 1 s\nOutput:\n{\"a\":1}\n": `{"a":1}`,
		"{\"text\":\"\\nOutput:\\n\"}": "{\"text\":\"\\nOutput:\\n\"}",
	} {
		if got := string(object(text)); got != want {
			t.Errorf("object(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestSeen: clients are distinguished by their address, and a request is remembered with what was said to it.
func TestSeen(t *testing.T) {
	s := Start(t, func(r Request) Reply { return Use("ferrus/check", nil) })
	post(t, s.URL("one")+"/v1/messages", asMessages)
	post(t, s.URL("two")+"/v1/responses", `{"input":"title?"}`)
	seen := s.Seen()
	if len(seen) != 2 || seen[0].Key != "one" || seen[1].Key != "two" || seen[0].Side || !seen[1].Side {
		t.Fatalf("%v", seen)
	}
	if got := seen[0].Reply.Calls[0]; got.ID != "call_3_1" || !seen[0].Offers("ferrus/check") || seen[1].Reply.Text != "ok" {
		t.Errorf("%v %v", seen[0], seen[1])
	}
}
