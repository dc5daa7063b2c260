//go:build unix

package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestAWorkerThatFollowsNextGetsToItsEnd, whatever it is, knowing nothing else.
func TestAWorkerThatFollowsNextGetsToItsEnd(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"terminal": "get_assignment wait_for_inputs wait_for_inputs write_output deliver",
		"other":    "get_assignment write_output",
		"talker":   "get_assignment write_output",
		"silent":   "get_assignment",
	} {
		t.Run(kind, func(t *testing.T) {
			s := newStage(t, kinds[kind].workflow, counted())
			if kinds[kind].workflow == debate {
				s.offer()
			}
			c := s.enter(kinds[kind].role, hurried)
			var went []string
			for next := "get_assignment"; next != "stop" && len(went) < 10; {
				args := ""
				if next == "write_output" {
					args = `{"content": "the output"}`
				}
				r := c.do(next, args)
				if r.Status != "sending" {
					went = append(went, next)
				}
				if next = r.Next; r.Status == "timeout" {
					if len(r.Missing) != 1 || r.Missing[0] != s.f.Path("reader.md") {
						t.Errorf("missing is %v", r.Missing)
					}
					s.put("reader.md", "what was read")
				}
			}
			if got := strings.Join(went, " "); got != want {
				t.Errorf("it went %s, not %s", got, want)
			}
			if kind == "terminal" && s.text(s.root+"/got") != "the output" {
				t.Error("nothing is delivered")
			}
		})
	}
}

// TestAnAssignmentSaysAllThereIsToKnow, of the worker alone.
func TestAnAssignmentSaysAllThereIsToKnow(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	a := s.enter("writer").do("get_assignment", "").Assignment
	if a.Role != "writer" || a.Task != "Write" || a.Topic != "the topic" || a.Output != s.f.Path("writer.md") || !a.Delivers || a.Speaks ||
		len(a.Inputs) != 1 || a.Inputs[0] != (run.Input{Path: s.f.Path("reader.md")}) {
		t.Errorf("%+v", a)
	}
	s.put("reader.md", "what was read")
	if a := s.enter("writer").do("get_assignment", "").Assignment; !a.Inputs[0].Ready {
		t.Errorf("%+v", a)
	}
}

// TestAWaitEndsWhenTheInputComes, and shows meanwhile that it lives.
func TestAWaitEndsWhenTheInputComes(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	shown := make(chan *mcp.ProgressNotificationParams, 10000)
	c := connect(t, NewServer(Options{Run: s.f.Dir, Worker: "writer", Attempt: 1, Wait: kit.Patience, Log: quiet, every: time.Millisecond}),
		&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) { shown <- n.Params }})
	ended := c.begin("wait_for_inputs")
	<-shown
	s.put("reader.md", "what was read")
	if r := <-ended; r.Status != "ready" || r.Next != "write_output" {
		t.Errorf("%+v", r)
	}
}

// TestAWaitThatIsGivenUpEnds.
func TestAWaitThatIsGivenUpEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	c := s.enter("writer")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_inputs"})
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	c.do("heartbeat", "")
}

// TestTheWaitIsThatOfTheProject, unless the server was told another.
func TestTheWaitIsThatOfTheProject(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	for text, want := range map[string]time.Duration{"": 45 * time.Second, "[server]\nwait_timeout_secs = 7\n": 7 * time.Second, "broken": 45 * time.Second} {
		must(t, os.WriteFile(s.root+"/ferrus.toml", []byte(text), 0o600))
		p := &place{opts: Options{Run: s.f.Dir, Worker: "writer", Attempt: 1}}
		must(t, p.open())
		if got := p.wait(); got != want {
			t.Errorf("with %q it is %v", text, got)
		}
		if p.opts.Wait = time.Second; p.wait() != time.Second {
			t.Errorf("told a second it is %v", p.wait())
		}
	}
}

// TestAnOutputIsWrittenAsItIs, and said so that it can be compared.
func TestAnOutputIsWrittenAsItIs(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	c := s.enter("reader")
	const text = "first \u2028 \U0001F600 \\u00e4 <b>&\r\n\tend  "
	raw, err := json.Marshal(map[string]string{"content": text})
	must(t, err)
	sum := sha256.Sum256([]byte(text))
	for range 2 {
		r := c.do("write_output", string(raw))
		if r.Path != s.f.Path("reader.md") || s.text(r.Path) != text || r.Bytes != len(text) || r.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v", r)
		}
	}
	c.do("write_output", `{"content": "another"}`)
	if got := s.text(s.f.Path("reader.md")); got != "another" {
		t.Errorf("a second output leaves %q", got)
	}
}

// TestABadOutputIsRefused, and changes nothing.
func TestABadOutputIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	s.put("reader.md", "as it was")
	c := s.enter("reader")
	for args, says := range map[string]string{
		"":                                         "content is missing",
		`{"content": ""}`:                          "content is empty",
		`{"content": " \n\u00a0"}`:                 "content is empty",
		`{"content": "a\u0000bcd"}`:                "NUL",
		`{"content": "abc"}`:                       "at least 4",
		`{"content": 7}`:                           "must be a string",
		`{"content": null}`:                        "must be a string",
		`{"content": "\ud800abcd"}`:                "not UTF-8",
		`{"content": "abcd", "content": "e"}`:      "twice",
		`{"contnt": "abcd"}`:                       "did you mean content?",
		`{"text": "abcd"}`:                         "send content",
		`{"content": "abcd", "consensus": true}`:   "no argument",
		`{"content": "abcd", "path": "/tmp/x"}`:    "no argument",
		`{"content": "abcd", "output": "../x.md"}`: "no argument",
		`{"content": "abcd", "role": "writer"}`:    "no argument",
		`["abcd"]`:                                 "must be an object",
	} {
		if r := c.call("write_output", args); r.Code != InvalidInput || !strings.Contains(r.Message+r.Remedy, says) || r.Next != "write_output" {
			t.Errorf("%s: %+v", args, r)
		}
	}
	for _, tool := range []string{"get_assignment", "wait_for_inputs", "heartbeat"} {
		if r := c.call(tool, `{"role": "writer"}`); r.Code != InvalidInput || !strings.Contains(r.Remedy, "no arguments") || r.Next != tool {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if got := s.text(s.f.Path("reader.md")); got != "as it was" {
		t.Errorf("the output is %q", got)
	}
}

// TestATurnIsSaidOverFerrussOwnCopy, whatever was made of the file.
func TestATurnIsSaidOverFerrussOwnCopy(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{"": "", "no JSON": "{", "another's turn": `{"turn": "bob", "roles": [{"role": "bob"}]}`} {
		s := newStage(t, debate, config.Deliver{})
		s.offer()
		c := s.enter("ann")
		if spoil != "" {
			s.put(pipeline.DialogueFile, spoil)
		}
		if name == "another's turn" {
			continue
		}
		r := c.do("write_output", `{"content": "I agree", "consensus": true}`)
		talk, err := pipeline.DecodeDialogue([]byte(s.text(s.f.Path(pipeline.DialogueFile))))
		if err != nil || r.Path != s.f.Path(pipeline.DialogueFile) || r.Next != "stop" {
			t.Fatalf("%s: %+v: %v", name, r, err)
		}
		if last := talk.Dialogue[0]; last.Content != "I agree" || !last.Consensus || last.Role != "ann" {
			t.Errorf("%s: it says %+v", name, last)
		}
		c.do("write_output", `{"content": "or not", "consensus": null}`)
		talk, err = pipeline.DecodeDialogue([]byte(s.text(s.f.Path(pipeline.DialogueFile))))
		if err != nil || len(talk.Dialogue) != 1 || talk.Dialogue[0].Content != "or not" || talk.Dialogue[0].Consensus {
			t.Errorf("%s: a second time it says %+v: %v", name, talk, err)
		}
		for _, bad := range []string{`"true"`, `1`, `[true]`} {
			if r := c.call("write_output", `{"content": "x", "consensus": `+bad+`}`); r.Code != InvalidInput || !strings.Contains(r.Message, "true or false") {
				t.Errorf("consensus %s: %+v", bad, r)
			}
		}
	}
}

// TestATurnThatIsTooLongIsRefused: nobody could read the dialogue any more.
func TestATurnThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, debate, config.Deliver{})
	s.offer()
	c := s.enter("ann")
	if r := c.call("write_output", `{"content": "`+strings.Repeat("word ", 1<<18)+`"}`); r.Code != TooLarge || r.Next != "write_output" {
		t.Errorf("%+v", r)
	}
	if _, err := pipeline.DecodeDialogue([]byte(s.text(s.f.Path(pipeline.DialogueFile)))); err != nil {
		t.Errorf("the dialogue is spoilt: %v", err)
	}
	c.do("write_output", `{"content": "shorter"}`)
}

// TestNothingThatAnAgentSaysNamesAPath: there is no argument for one, and links that it has laid lead nowhere.
func TestNothingThatAnAgentSaysNamesAPath(t *testing.T) {
	t.Parallel()
	for _, tool := range Catalogue() {
		for _, a := range append(tool.Args, tool.Turn) {
			if !slices.Contains([]string{"", "content", "consensus", "question", "options"}, a.Name) {
				t.Errorf("%s has the argument %s", tool.Name, a.Name)
			}
		}
	}
	s := newStage(t, report, config.Deliver{})
	outside := filepath.Join(t.TempDir(), "outside")
	for _, laid := range []string{"reader.md", "reader.md.new"} {
		must(t, os.WriteFile(outside, []byte("untouched"), 0o600))
		must(t, os.Symlink(outside, s.f.Path(laid)))
		s.enter("reader").do("write_output", `{"content": "../../outside"}`)
		info, err := os.Lstat(s.f.Path("reader.md"))
		must(t, err)
		if s.text(outside) != "untouched" || !info.Mode().IsRegular() || s.text(s.f.Path("reader.md")) != "../../outside" {
			t.Errorf("a link at %s was followed", laid)
		}
		must(t, os.Remove(s.f.Path("reader.md")))
	}
}

// TestATooSmallFileIsNoOutput: what is next goes by what counts.
func TestATooSmallFileIsNoOutput(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	c := s.enter("reader")
	for text, next := range map[string]string{"": "write_output", "abc": "write_output", "abcd": "stop"} {
		s.put("reader.md", text)
		if r := c.do("heartbeat", ""); r.Next != next {
			t.Errorf("with %q next is %s", text, r.Next)
		}
	}
}

// TestWhoIsReplacedStopsWhateverItCalls, be it with arguments that nobody understands.
func TestWhoIsReplacedStopsWhateverItCalls(t *testing.T) {
	t.Parallel()
	s := ready(t, config.Deliver{})
	c := s.enter("writer")
	s.attempt("writer", 2)
	for _, tool := range Catalogue() {
		for _, args := range []string{"", `{}`, `{"x": 1}`, `{"content": ""}`, `{"content": "x"}`} {
			if r := c.call(tool.Name, args); r.Code == "" || r.Next != "stop" || len(r.Allowed) > 0 {
				t.Errorf("%s %s: %+v", tool.Name, args, r)
			}
		}
	}
	if r := s.enter("writer", func(o *Options) { o.Attempt = 2 }).do("heartbeat", ""); r.Next != "deliver" {
		t.Errorf("the second attempt: %+v", r)
	}
}

// TestWhoIsTooLateIsToldWhy.
func TestWhoIsTooLateIsToldWhy(t *testing.T) {
	t.Parallel()
	says := map[string]string{"replaced": "attempt 2 does this work", "failed": "given up (TIMEOUT)", "cancelled": "a person has cancelled",
		"delivered": "is delivered", "archived": "archived"}
	for _, st := range standings[1:] {
		s := newStage(t, report, config.Deliver{})
		c := s.enter("reader")
		st.make(s, "reader")
		if r := c.call("heartbeat", ""); !strings.Contains(r.Message, says[st.name]) || !strings.Contains(r.Remedy, "stop") || r.Left != nil {
			t.Errorf("%s: %+v", st.name, r)
		}
	}
}

// TestARunThatCannotBeOpenedIsAnAnswer to every call, and the server lives.
func TestARunThatCannotBeOpenedIsAnAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, config.Deliver{})
	broken := filepath.Join(t.TempDir(), "broken-120000")
	must(t, os.Mkdir(broken, 0o700))
	must(t, os.WriteFile(filepath.Join(broken, "journal.jsonl"), []byte("{}\n"), 0o600))
	for name, tt := range map[string]struct {
		dir, role string
		code      refusal.Code
		says      string
	}{
		"no such folder":     {s.f.Dir + "-gone", "writer", StoreGone, "archived"},
		"no run":             {s.root, "writer", StoreGone, "does not exist"},
		"nothing readable":   {broken, "writer", Corrupt, "launch"},
		"nobody of the name": {s.f.Dir, "boss", ForbiddenRole, "it has reader, writer"},
	} {
		c := connect(t, NewServer(Options{Run: tt.dir, Worker: tt.role, Attempt: 1, Log: quiet}), nil)
		for _, tool := range Catalogue() {
			if r := c.call(tool.Name, ""); r.Code != tt.code || !strings.Contains(r.Message, tt.says) || r.Next != "stop" || len(r.Allowed) > 0 {
				t.Errorf("%s, %s: %+v", name, tool.Name, r)
			}
		}
	}
}

// TestAPanicEndsTheCallAlone: a bug of ours is said to be one.
func TestAPanicEndsTheCallAlone(t *testing.T) {
	t.Parallel()
	s := ready(t, config.Deliver{})
	p := &place{opts: Options{Run: s.f.Dir, Worker: "writer", Attempt: 1, Wait: kit.Patience, Log: quiet, gate: &gate.Gate{Watchdog: gate.Watchdog{Log: quiet}}}}
	must(t, p.open())
	tool := Tool{Tool: Catalogue()[0].Tool, run: func(context.Context, *call) error { panic("a bug") }}
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(tool.Definition(), p.handler(tool, p.binding()))
	if r := connect(t, server, nil).call(tool.Name, ""); r.Code != OutcomeUnknown || r.Next != "deliver" || !strings.Contains(r.Message, "bug") {
		t.Errorf("%+v", r)
	}
}

// TestAWorkerAsksOnceAndHasTheAnswer: it is told to wait, a second question is refused meanwhile, and the answer is there as often as it
// looks.
func TestAWorkerAsksOnceAndHasTheAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t, inquiry, config.Deliver{})
	s.attempt("asker", 1)
	c := s.enter("asker", hurried)
	for _, bad := range []string{`{"question": " "}`, `{}`, `{"question": "x", "options": ["a\nb"]}`} {
		if r := c.call("ask_human", bad); r.Code != InvalidInput || r.Next != "ask_human" {
			t.Errorf("%s: %+v", bad, r)
		}
	}
	if r := c.do("ask_human", `{"question": "Which?", "options": ["this", "that"]}`); r.QuestionID != "q1" || r.Next != "wait_for_answer" {
		t.Errorf("%+v", r)
	}
	if r := c.do("wait_for_answer", ""); r.Status != "timeout" || r.Next != "wait_for_answer" {
		t.Errorf("%+v", r)
	}
	if r := c.call("ask_human", `{"question": "And which?"}`); r.Code != WrongState || r.Next != "wait_for_answer" {
		t.Errorf("%+v", r)
	}
	_, err := s.f.Answer(t.Context(), "q1", "human", time.Now(), func(q pipeline.Question) (string, error) {
		if q.Text != "Which?\n\n1. this\n2. that\n" {
			t.Errorf("%q", q.Text)
		}
		return "2. that", nil
	})
	must(t, err)
	for range 2 {
		if r := c.do("wait_for_answer", ""); r.Status != "answered" || r.Answer != "2. that" || r.QuestionID != "q1" || r.Next != "write_output" {
			t.Errorf("%+v", r)
		}
	}
	c.do("write_output", `{"content": "that"}`)
	if r := c.call("ask_human", `{"question": "And now?"}`); r.Code != WrongState || r.Next != "stop" {
		t.Errorf("%+v", r)
	}
}
