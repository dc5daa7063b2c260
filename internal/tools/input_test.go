//go:build unix

package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestABadArgumentIsAnsweredInOurWords: whatever is wrong with the arguments, the answer is a result with a code, what
// is wrong, and what helps; nothing has changed, and the result says to call the same tool again.
func TestABadArgumentIsAnsweredInOurWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	sup, exe := w.enter(state.Supervisor, 1), w.enter(state.Executor, 1)
	sup.do("create_task", nil)
	exe.do("wait_for_task", nil)
	text := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	consult := func(options string) string {
		return `{"problem":"p","tried":"t","question":"q","options":` + options + `}`
	}
	lines := strings.Repeat(`"yes",`, 20)
	for _, tt := range []struct {
		name, tool, args string
		code             refusal.Code
		says             string // in message or remedy
	}{
		{"an unknown argument", "progress", `{"note":"n","urgency":"high"}`, refusal.InvalidInput, "send note"},
		{"a misspelt one", "progress", `{"nott":"n"}`, refusal.InvalidInput, "did you mean note?"},
		{"a misspelt one of several", "submit", `{"summary":"s","verificaton":"v"}`, refusal.InvalidInput, "did you mean verification?"},
		{"another case", "progress", `{"Note":"n"}`, refusal.InvalidInput, "did you mean note?"},
		{"another case beside the right one", "progress", `{"note":"n","NOTE":"m"}`, refusal.InvalidInput, "did you mean note?"},
		{"twice the same", "progress", `{"note":"n","note":"m"}`, refusal.InvalidInput, "note is given twice"},
		{"twice the same in another spelling", "progress", `{"note":"n","no\u0074e":"m"}`, refusal.InvalidInput, "note is given twice"},
		{"an argument of a tool that has none", "review_pending", `{"id":"s1"}`, refusal.InvalidInput, "send no arguments"},
		{"a number", "progress", `{"note":7}`, refusal.InvalidInput, "note must be a string"},
		{"an object", "progress", `{"note":{"text":"n"}}`, refusal.InvalidInput, "note must be a string"},
		{"a list for a text", "progress", `{"note":["n"]}`, refusal.InvalidInput, "note must be a string"},
		{"null for what is needed", "progress", `{"note":null}`, refusal.InvalidInput, "note must be a string"},
		{"a text for a list", "consult", consult(`"yes"`), refusal.InvalidInput, "options must be a list of strings"},
		{"numbers in a list", "consult", consult(`[1,2]`), refusal.InvalidInput, "options must be a list of strings"},
		{"null in a list", "consult", consult(`["yes",null]`), refusal.InvalidInput, "options"},
		{"a missing argument", "submit", `{"summary":"s"}`, refusal.InvalidInput, "verification is missing"},
		{"no arguments at all", "progress", `{}`, refusal.InvalidInput, "note is missing"},
		{"null for the arguments", "progress", `null`, refusal.InvalidInput, "note is missing"},
		{"a list for the arguments", "progress", `["n"]`, refusal.InvalidInput, "must be an object"},
		{"a text for the arguments", "progress", `"note"`, refusal.InvalidInput, "must be an object"},
		{"an empty text", "progress", `{"note":""}`, refusal.InvalidInput, "note is empty"},
		{"a blank one", "progress", `{"note":" \n\t\u00a0"}`, refusal.InvalidInput, "note is empty"},
		{"a NUL", "progress", `{"note":"a\u0000b"}`, refusal.InvalidInput, "NUL"},
		{"half a pair", "progress", `{"note":"a\ud83db"}`, refusal.InvalidInput, "not UTF-8"},
		{"the other half", "progress", `{"note":"\\\udc00"}`, refusal.InvalidInput, "not UTF-8"},
		{"the halves the wrong way round", "progress", `{"note":"\udc00\ud83d"}`, refusal.InvalidInput, "not UTF-8"},
		{"half a pair in a list", "consult", consult(`["\ud83d"]`), refusal.InvalidInput, "not UTF-8"},
		{"a long note", "progress", `{"note":` + text(strings.Repeat("n", 4097)) + `}`, refusal.TooLarge, "4097"},
		{"a long document", "submit", `{"summary":` + text(strings.Repeat("s", store.MaxDoc+1)) + `,"verification":"v"}`, refusal.TooLarge, "1048577"},
		{"documents that are long together", "submit", `{"summary":` + text(strings.Repeat("s", store.MaxDoc-10)) +
			`,"verification":` + text(strings.Repeat("v", 100)) + `}`, refusal.TooLarge, "the submission"},
		{"two lines in an option", "consult", consult(`["yes\nno"]`), refusal.InvalidInput, "one line"},
		{"a long option", "consult", consult(`[` + text(strings.Repeat("ä", 201)) + `]`), refusal.InvalidInput, "200"},
		{"an empty option", "consult", consult(`["yes",""]`), refusal.InvalidInput, "options is empty"},
		{"too many options", "consult", consult(`[` + lines + `"no"]`), refusal.InvalidInput, "21"},
		{"somebody else's claim", "progress", `{"note":"n","claim":"4f6d6d7a"}`, refusal.NotClaimed, "4f6d6d7a"},
		{"a claim of many lines", "progress", `{"note":"n","claim":"a\nb"}`, refusal.InvalidInput, "one line"},
		{"a long claim", "progress", `{"note":"n","claim":` + text(strings.Repeat("c", 1<<20)) + `}`, refusal.InvalidInput, "200"},
		{"a long unknown name", "progress", `{` + text(strings.Repeat("x", 1<<20)) + `:1}`, refusal.InvalidInput, "send note"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, next := exe, tt.tool
			if tt.tool == "review_pending" {
				a, next = sup, "wait_for_review" // there is no submission, whatever the arguments
			}
			before := w.disk()
			r := a.refused(tt.code, tt.tool, json.RawMessage(tt.args))
			if said := r.Message + "; " + r.Remedy; !strings.Contains(said, tt.says) || len(said) > 700 {
				t.Errorf("it says %q, not %q", said[:min(len(said), 700)], tt.says)
			}
			if tt.code != refusal.NotClaimed && r.Next != next {
				t.Errorf("next is %s", r.Next)
			}
			if w.disk() != before {
				t.Error("it changed the store")
			}
		})
	}
}

// TestATitleIsOneLine, which is why it is no document.
func TestATitleIsOneLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	sup := w.enter(state.Supervisor, 1)
	for _, title := range []string{"a\nb", strings.Repeat("t", 201), "  ", "a\x00b"} {
		sup.refused(refusal.InvalidInput, "create_task", map[string]any{"description": "d", "title": title})
	}
	title := strings.Repeat("ü", 200)
	if r := sup.do("create_task", map[string]any{"description": "d", "title": title}); r.Title != title {
		t.Errorf("the title is %q", r.Title)
	}
}

// TestAGoodArgumentIsStoredExactly: pairs, escapes and odd characters stay as they are.
func TestAGoodArgumentIsStoredExactly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	sup, exe := w.enter(state.Supervisor, 1), w.enter(state.Executor, 1)
	const raw = `"\ud83d\ude00 \\ud83d \\\\ \u00e4 ` + "ä" + ` \n\ttab \ufffd end  "`
	var want string
	if err := json.Unmarshal([]byte(raw), &want); err != nil {
		t.Fatal(err)
	}
	sup.do("create_task", json.RawMessage(`{"description":`+raw+`,"title":null}`))
	if got := exe.do("wait_for_task", json.RawMessage(`{"claim":null}`)).Task; got != want {
		t.Errorf("%q became %q", want, got)
	}
	big := strings.Repeat("d", store.MaxDoc-100)
	exe.do("submit", map[string]any{"summary": big, "verification": "v", "no_change": "none"})
	if got := sup.do("review_pending", nil).Submission; !strings.Contains(got, big) {
		t.Error("a document of almost a MiB is not kept")
	}
}

// TestDocumentsAreCleanedWhenTheyAreAccepted: what a reader cannot see is stored and shown as marks, and the
// writer gets a notice.
func TestDocumentsAreCleanedWhenTheyAreAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	sup, exe := w.enter(state.Supervisor, 1), w.enter(state.Executor, 1)
	const hidden = "\x1b[31m\u202e\U000e0041\ufe01\u115f\u2028\ue000\u00ad\u200b"
	send := func(c *agent, tool string, args map[string]any) Result {
		t.Helper()
		n := 0
		for k, v := range args {
			switch v := v.(type) {
			case string:
				args[k] = v + hidden
			case []string:
				args[k] = []string{v[0] + hidden}
			}
			n++
		}
		r := c.do(tool, args)
		if n > 0 && !slices.ContainsFunc(r.Notices, func(s string) bool {
			return strings.HasPrefix(s, fmt.Sprint(9*n, " hidden characters"))
		}) {
			t.Errorf("%s does not say what became of the characters: %q", tool, r.Notices)
		}
		return r
	}
	send(sup, "create_task", map[string]any{"description": "d", "title": "t"})
	exe.do("wait_for_task", nil)
	send(exe, "progress", map[string]any{"note": "n"})
	send(exe, "consult", map[string]any{"problem": "p", "tried": "t", "question": "q", "options": []string{"o"}})
	sup.do("wait_for_review", nil)
	send(sup, "respond_consult", map[string]any{"response": "r"})
	exe.do("wait_for_consult", nil)
	send(exe, "submit", map[string]any{"summary": "s", "verification": "v", "limitations": "l", "no_change": "n"})
	sup.do("review_pending", nil)
	send(sup, "reject", map[string]any{"notes": "n"})
	exe.do("wait_for_task", nil)
	send(exe, "ask_human", map[string]any{"question": "q", "options": []string{"o"}})
	journal := []byte(sharedtest.Journal(t, w.dir, ""))
	if !bytes.Equal(safetext.MarkJSON(journal), journal) {
		t.Error("the journal has hidden characters")
	}
	if got := bytes.Count(journal, []byte(safetext.Mark(hidden))); got < 12 {
		t.Errorf("%d texts have the marks of what was sent", got)
	}
}

// TestNotesAreBounded: a model that notes for ever does not grow the journal for ever, and learns what to do.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[limits]\nmax_progress_notes = 3\n")
	sup, exe := w.enter(state.Supervisor, 1), w.enter(state.Executor, 1)
	sup.do("create_task", nil)
	exe.do("wait_for_task", nil)
	for i := range 3 {
		exe.do("progress", map[string]any{"note": fmt.Sprint("note ", i)})
	}
	before, through := w.disk(), 0
	for i := range 20 {
		r := exe.call("progress", map[string]any{"note": fmt.Sprint("too many ", i)})
		if r.Code != refusal.WrongState || !strings.Contains(r.Message, "max_progress_notes") || !strings.Contains(r.Remedy, "submission") || r.Next != "check" {
			through++
			t.Errorf("%+v", r)
		}
	}
	if w.disk() != before {
		t.Error("a refused note changed the store")
	}
	t.Logf("%d of 20", through)
}

// TestMessagesAreBounded: two models that answer each other end.
func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[limits]\nmax_messages = 3\n")
	sup, exe := w.enter(state.Supervisor, 1), w.enter(state.Executor, 1)
	sup.do("create_task", nil)
	exe.do("wait_for_task", nil)
	exe.do("progress", map[string]any{"note": "1", "to": "supervisor"})
	sup.do("queue_task", map[string]any{"text": "2", "to": "executor"})
	exe.do("progress", map[string]any{"note": "3", "to": "supervisor"})
	before := w.disk()
	for who, call := range map[*agent]struct{ tool, text, to string }{exe: {"progress", "note", "supervisor"}, sup: {"queue_task", "text", "executor"}} {
		r := who.call(call.tool, map[string]any{call.text: "too many", "to": call.to})
		if r.Code != refusal.WrongState || !strings.Contains(r.Message, "max_messages") || !strings.Contains(r.Remedy, "submission") {
			t.Errorf("%+v", r)
		}
	}
	if w.disk() != before {
		t.Error("a refused message changed the store")
	}
}

// TestTheClaimOfAWorkIsThisConnections: the claim is a name, not a key.
func TestTheClaimOfAWorkIsThisConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.enter(state.Supervisor, 1).do("create_task", nil)
	first, second := w.enter(state.Executor, 1), w.enter(state.Executor, 2)
	claim := first.do("wait_for_task", nil).Claim
	first.do("progress", map[string]any{"note": "mine", "claim": claim})
	before := w.disk()
	for _, tool := range []string{"check", "heartbeat", "wait_for_task", "wait_for_answer"} {
		second.refused(refusal.NotClaimed, tool, map[string]any{"claim": claim})
	}
	if w.disk() != before {
		t.Error("it changed the store")
	}
}

// FuzzArguments: whatever the arguments are, decoding neither panics nor lets through what is no text.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{}`, `{"note":"n"}`, `{"note":"\ud800"}`, `{"note":"\ud83d\ude00"}`, `{"note":"n","note":"n"}`, `[`, `{"a":`, `null`, "{\"note\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	var tool Tool
	for _, t := range Catalogue() {
		if t.Name == "progress" {
			tool = t
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := tool.wire().Decode(raw)
		if err != nil {
			return
		}
		replaced := 0 // by encoding/json, which puts U+FFFD where it finds no text
		for _, text := range v.Text {
			replaced += strings.Count(text, "\ufffd")
		}
		if sent := bytes.Count(raw, []byte("\ufffd")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`)); replaced > sent {
			t.Errorf("%q was let through from %q", v.Text, raw)
		}
		if _, ok := v.Text["note"]; !ok {
			t.Errorf("%q was let through without a note", raw)
		}
	})
}
