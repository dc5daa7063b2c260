package agents

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/test/golden"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// reader is one of an adapter, at noon.
func reader(a Adapter) *Reader {
	r := a.Reader()
	r.Now = func() time.Time { return noon }
	return r
}

// streams are what real clients printed, or what their source says that they would: by the first word of the file's name.
func streams(t testing.TB) map[string]Adapter {
	files, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	all := map[string]Adapter{}
	for _, file := range files {
		word, _, _ := strings.Cut(filepath.Base(file), "-")
		for _, a := range All() {
			if strings.HasPrefix(a.Name, word) {
				all[file] = a
			}
		}
		if all[file].Name == "" {
			t.Fatalf("%s is of no agent", file)
		}
	}
	return all
}

func TestStreams(t *testing.T) {
	for file, a := range streams(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			r := reader(a)
			notes := append(r.Feed(text), r.End()...)
			for _, n := range notes {
				fmt.Fprintf(&b, "%-6s %s\n", n.Kind, n.Text)
			}
			until := ""
			if !r.Until.IsZero() {
				until = r.Until.UTC().Format(time.RFC3339)
			}
			fmt.Fprintf(&b, "\nusage   %+v\ndoing   %s\nsaid    %s\ntrouble %s\nuntil   %s\nsession %s\n", r.Usage, r.Doing, r.Said, r.Trouble, until, r.Session)
			golden.Check(t, strings.TrimSuffix(file, ".jsonl")+".golden", b.String())

			// One byte at a time says the same.
			slow := reader(a)
			var slowly []Note
			for i := range text {
				slowly = append(slowly, slow.Feed(text[i:i+1])...)
			}
			slowly = append(slowly, slow.End()...)
			if diff := cmp.Diff(notes, slowly); diff != "" {
				t.Errorf("whole and by bytes (-whole +bytes):\n%s", diff)
			}
			if diff := cmp.Diff(r.Reading, slow.Reading); diff != "" {
				t.Errorf("whole and by bytes (-whole +bytes):\n%s", diff)
			}
		})
	}
}

// TestAnUnknownAgentIsReadAsACommand: its run may be one of another version of ferrus.
func TestAnUnknownAgentIsReadAsACommand(t *testing.T) {
	for name, want := range map[string]string{"no-such-agent": "hello", "command": "hello", "claude-code": ""} {
		r := ReaderOf(name)
		r.Feed([]byte("hello\n"))
		if r.Said != want {
			t.Errorf("%s says %q", name, r.Said)
		}
	}
}

func TestPlainTroubleIsForgotten(t *testing.T) {
	r := reader(command)
	r.Feed([]byte("Error: 429 Too Many Requests, try again in 5 minutes\n"))
	if r.Trouble != RateLimited || !r.Until.Equal(noon.Add(5*time.Minute)) {
		t.Errorf("%+v", r.Reading)
	}
	r.Feed([]byte(strings.Repeat("  at stack\n", plainForgets)))
	if r.Trouble != RateLimited {
		t.Error("forgotten while it is read")
	}
	r.Feed([]byte("working\n"))
	if r.Trouble != "" || !r.Until.IsZero() || r.Said != "working" {
		t.Errorf("%+v", r.Reading)
	}
}

// TestTroubleIsGotOver: what the model says or does afterwards shows that its provider answers.
func TestTroubleIsGotOver(t *testing.T) {
	for _, c := range []struct {
		agent         Adapter
		trouble, over string
	}{
		{claude, `{"type":"system","subtype":"api_retry","error_status":529,"retry_delay_ms":2000}`,
			`{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"on"}]}}`},
		{codex, `{"type":"error","message":"Reconnecting... 1/5 (429 Too Many Requests)"}`,
			`{"type":"item.completed","item":{"type":"agent_message","text":"on"}}`},
		{gemini, `{"type":"error","message":"429 Too Many Requests"}`, `{"type":"message","role":"assistant","content":"on"}`},
		{opencode, `{"type":"error","error":{"name":"APIError","data":{"message":"slow down","statusCode":429}}}`,
			`{"type":"text","part":{"text":"on"}}`},
	} {
		r := reader(c.agent)
		r.Feed([]byte(c.trouble + "\n"))
		if r.Trouble != RateLimited {
			t.Errorf("%s: %q after %s", c.agent.Name, r.Trouble, c.trouble)
		}
		r.Feed([]byte(c.over + "\n"))
		if r.Trouble != "" || !r.Until.IsZero() || r.Said != "on" {
			t.Errorf("%s: %+v after %s", c.agent.Name, r.Reading, c.over)
		}
	}
}

func TestNotesAreForATerminal(t *testing.T) {
	for _, a := range All() {
		r := reader(a)
		for _, n := range r.Feed([]byte("\x1b[2J\x07red\xff\n" + `{"type":"text","part":{"text":"a\u001b[31mb"}}` + "\n")) {
			if strings.ContainsAny(n.Text, "\x1b\x07") {
				t.Errorf("%s: %q", a.Name, n.Text)
			}
		}
	}
	if got := call("mcp__ferrus__submit", []byte(`{"verification":"x","summary":"`+strings.Repeat("long\\n", 100)+`"}`)); len(got) > briefly+2 ||
		!strings.HasPrefix(got, "ferrus submit long long") || strings.Contains(got, "\n") {
		t.Errorf("%q", got)
	}
}

func TestALineWithoutEndIsBounded(t *testing.T) {
	r := reader(claude)
	piece := bytes.Repeat([]byte("x"), 1<<20)
	var notes []Note
	for range 20 {
		notes = append(notes, r.Feed(piece)...)
		if len(r.rest) > maxRest {
			t.Fatalf("%d bytes are buffered", len(r.rest))
		}
	}
	if len(notes) != 2 {
		t.Errorf("%d notes", len(notes))
	}
}

func FuzzReader(f *testing.F) {
	for file := range streams(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			f.Add(line)
		}
	}
	for _, s := range []string{"", "\n", "{", "null", `{"type":1}`, `{"type":"assistant"}`, `{"type":"assistant","message":{"content":[null]}}`,
		`{"type":"result","modelUsage":{"m":null}}`, `{"type":"item.completed","item":{"type":"command_execution"}}`,
		`{"type":"user","message":{"content":"x"}}`, "resets 12am (x)", "try again in 1e5 x 5 5 5", `{"type":"tool_use","parameters":{"a":1}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range All() {
			whole, halves := reader(a), reader(a)
			want := append(whole.Feed(data), whole.End()...)
			got := append(halves.Feed(data[:len(data)/2]), halves.Feed(data[len(data)/2:])...)
			got = append(got, halves.End()...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: (-whole +halves):\n%s", a.Name, diff)
			}
		}
	})
}

// TestNoServerIsGotOverByACall: that the model speaks says nothing of our server; that it has our tools does.
func TestNoServerIsGotOverByACall(t *testing.T) {
	r := reader(claude)
	r.Feed([]byte(`{"type":"system","subtype":"init","mcp_servers":[{"name":"ferrus","status":"failed"}]}` + "\n"))
	r.Feed([]byte(`{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"on"}]}}` + "\n"))
	if r.Trouble != NoServer {
		t.Errorf("trouble %q", r.Trouble)
	}
	r.Feed([]byte(`{"type":"assistant","message":{"id":"2","content":[{"type":"tool_use","name":"mcp__ferrus__check"}]}}` + "\n"))
	if r.Trouble != "" || r.Doing != "ferrus check" {
		t.Errorf("trouble %q, doing %q", r.Trouble, r.Doing)
	}
}

// TestWhatAnAgentReportsIsInItsOutput: an agent is said to report tokens or dollars where its streams have them.
func TestWhatAnAgentReportsIsInItsOutput(t *testing.T) {
	used, priced := map[string]Usage{}, map[string]bool{} // a model of a test has the price 0
	for file, a := range streams(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := reader(a)
		r.Feed(text)
		r.End()
		priced[a.Name] = priced[a.Name] || bytes.Contains(text, []byte("cost"))
		used[a.Name] = used[a.Name].Plus(r.Usage)
	}
	for _, a := range All() {
		if u := used[a.Name]; a.Tokens != (u.Tokens() > 0) || a.Dollars != priced[a.Name] {
			t.Errorf("%s: tokens %v, dollars %v, and its streams have %+v", a.Name, a.Tokens, a.Dollars, u)
		}
	}
}
