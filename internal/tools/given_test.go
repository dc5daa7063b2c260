//go:build unix

package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/golden"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A pose is a place in the machine where somebody asks what there is to do.
type pose struct {
	name  string
	state state.State
	play  func(*cast)
}

// poses are every state, those in which more than one thing may have led there once for each.
var poses = []pose{
	{"idle", state.Idle, func(*cast) {}},
	{"executing, nobody has it", state.Executing, func(c *cast) { c.supervisor.do("create_task", nil) }},
	{"executing", state.Executing, working},
	{"executing, with notes", state.Executing, func(c *cast) { working(c); c.holder.do("progress", nil) }},
	{"executing, with notices", state.Executing, func(c *cast) {
		c.person.TTY = false
		working(c)
		c.write("ferrus.toml", c.toml("max_check_retries = 7"))
	}},
	{"checking", state.Checking, checked},
	{"addressing, red", state.Addressing, func(c *cast) { working(c); c.write("red", ""); c.holder.do("check", nil) }},
	{"addressing, rejected", state.Addressing, func(c *cast) { changed(c); c.supervisor.do("review_pending", nil); c.supervisor.do("reject", nil) }},
	{"consultation", state.Consultation, asked},
	{"consultation, answered", state.Consultation, answered},
	{"back from a consultation", state.Executing, func(c *cast) { answered(c); c.holder.do("wait_for_consult", nil) }},
	{"awaiting a person", state.AwaitingHuman, func(c *cast) { working(c); c.holder.do("ask_human", nil) }},
	{"awaiting a person, asked by the supervisor", state.AwaitingHuman, func(c *cast) { shown(c); c.supervisor.do("ask_human", nil) }},
	{"back from a question", state.Executing, func(c *cast) { working(c); c.holder.do("ask_human", nil); c.says("2") }},
	{"reviewing", state.Reviewing, changed},
	{"reviewing again", state.Reviewing, func(c *cast) {
		shown(c)
		c.supervisor.do("reject", nil)
		c.holder.do("wait_for_task", nil)
		c.holder.do("submit", nil)
	}},
	{"executing, steered", state.Executing, func(c *cast) { working(c); c.steers() }},
	{"consultation, steered", state.Consultation, func(c *cast) { asked(c); c.steers() }},
	{"reviewing, steered", state.Reviewing, func(c *cast) { submitted(c); c.steers() }},
	{"complete", state.Complete, func(c *cast) { shown(c); c.supervisor.do("approve", nil) }},
	{"failed", state.Failed, func(c *cast) { working(c); c.write("red", ""); c.holder.do("check", nil); c.holder.do("check", nil) }},
}

// changed: there is a submission of something.
func changed(c *cast) { working(c); c.write("new", "new\n"); c.holder.do("submit", nil) }

// toml is a ferrus.toml of the cast with another limit.
func (c *cast) toml(limit string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "ferrus.toml"))
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.Replace(string(text), "max_check_retries = 2", limit, 1)
}

// says answers the open question as a person.
func (c *cast) says(answer string) {
	c.t.Helper()
	done, err := c.person.Answer(c.t.Context(), "", answer)
	must(c.t, done, err)
}

// given is what the role is given at a moment of the world's machine, 0 being now, as it arrives.
func (w *world) given(e *engine.Engine, role state.Role, seq uint64) Result {
	w.t.Helper()
	m, err := e.Moment(seq)
	if err != nil {
		w.t.Fatal(err)
	}
	sent, err := Preview(w.t.Context(), e, m, role)
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := json.Marshal(sent)
	var r Result
	if err != nil || json.Unmarshal(text, &r) != nil {
		w.t.Fatalf("%v: %s", err, text)
	}
	return r
}

// personal is what a claim says of itself and not of the work.
var personal = cmpopts.IgnoreFields(Result{}, "Claim", "ClaimedBy", "LeaseUntil")

// TestTheContextIsWhatACallReturns: in every state, for both roles, and nothing is changed by looking. S2-19.
func TestTheContextIsWhatACallReturns(t *testing.T) {
	seen := map[state.State]bool{}
	for i, p := range poses {
		seen[p.state] = true
		if !kit.Every(3, i) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, repository)
			p.play(c)
			e, before := c.open(), c.disk()
			exe, sup := c.given(e, state.Executor, 0), c.given(e, state.Supervisor, 0)
			if exe.State != p.state || sup.State != p.state {
				t.Errorf("it is %s and %s, not %s", exe.State, sup.State, p.state)
			}
			if after := c.disk(); after != before {
				t.Error("looking at it has changed something")
			}
			c.goldenPose(p, exe, sup)
			// Who holds the work asks again; where nobody does, another claims it.
			asks := c.holder
			if now, err := e.View(); err != nil || now.Task.ClaimedBy == "" {
				asks = c.other
			}
			if diff := cmp.Diff(c.supervisor.do("wait_for_review", nil), sup, personal); diff != "" {
				t.Errorf("the supervisor is given something else:\n%s", diff)
			}
			if diff := cmp.Diff(asks.do("wait_for_task", nil), exe, personal); diff != "" {
				t.Errorf("the executor is given something else:\n%s", diff)
			}
		})
	}
	for _, s := range state.States() {
		if !seen[s] {
			t.Errorf("nobody looks at %s", s)
		}
	}
}

// fleeting are ids, times and paths, which differ each time.
var fleeting = []struct {
	was *regexp.Regexp
	is  string
}{
	{regexp.MustCompile(`t-\d{8}-\d{6}-[0-9a-f]{8}`), "t-DATE-TIME-XXXX"},
	{regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*Z"`), `"TIME"`},
	{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "TREE"},
	{regexp.MustCompile(`"duration_ns": \d+`), `"duration_ns": 0`},
	{regexp.MustCompile(`after [0-9.]+m?s`), "after TIME"},
}

// goldenPose compares what both are given with a file.
func (c *cast) goldenPose(p pose, exe, sup Result) {
	c.t.Helper()
	text, err := json.MarshalIndent(map[string]Result{"executor": exe, "supervisor": sup}, "", "  ")
	if err != nil {
		c.t.Fatal(err)
	}
	got := strings.NewReplacer(c.dir, "PROJECT", c.gate, "GATE").Replace(string(text))
	for _, f := range fleeting {
		got = f.was.ReplaceAllString(got, f.is)
	}
	golden.Check(c.t, filepath.Join("testdata", "context", strings.NewReplacer(", ", "-", " ", "-").Replace(p.name)+".json"), got+"\n")
}

// TestThePastIsAsItWas: what was given after each event is what is shown of it later, but for what only the present knew.
func TestThePastIsAsItWas(t *testing.T) {
	t.Parallel()
	c := newCast(t, repository)
	c.person.TTY = false // which is noted
	e := c.open()
	type both struct{ exe, sup Result }
	then := map[uint64]both{}
	look := func() {
		now, err := e.View()
		if err != nil {
			t.Fatal(err)
		}
		then[now.Task.Seq] = both{c.given(e, state.Executor, 0), c.given(e, state.Supervisor, 0)}
	}
	steps := []func(){
		func() { c.supervisor.do("create_task", nil) },
		func() { c.holder.do("wait_for_task", nil) },
		func() { c.holder.do("progress", nil) },
		func() { c.write("red", ""); c.holder.do("check", nil) },
		func() { c.holder.do("consult", nil) },
		func() { c.supervisor.do("wait_for_review", nil); c.supervisor.do("respond_consult", nil) },
		func() { c.holder.do("wait_for_consult", nil) },
		func() { c.holder.do("ask_human", nil) },
		func() { c.says("2") },
		func() { c.remove("red"); c.write("new", "new\n"); c.holder.do("check", nil) },
		func() { c.holder.do("submit", nil) },
		func() { c.supervisor.do("review_pending", nil); c.supervisor.do("reject", nil) },
		func() { c.holder.do("wait_for_task", nil) },
		func() { c.holder.do("submit", nil) },
		func() { c.supervisor.do("review_pending", nil); c.supervisor.do("approve", nil) },
		func() { c.supervisor.do("create_task", earlier["create_task"]) },
	}
	for _, step := range steps {
		step()
		look()
	}
	c.holder.do("wait_for_task", nil)
	c.write("ferrus.toml", c.toml("max_check_retries = 7")) // which is no notice of then
	noticed := 0
	for seq, was := range then {
		what := fmt.Sprint("after event ", seq, ", ", was.exe.State)
		exe, sup := c.given(e, state.Executor, seq), c.given(e, state.Supervisor, seq)
		if diff := cmp.Diff(was.sup, sup); diff != "" {
			t.Errorf("%s the supervisor was given something else:\n%s", what, diff)
		}
		noticed += len(exe.Notices)
		if diff := cmp.Diff(was.exe, exe, cmpopts.IgnoreFields(Result{}, "LeaseUntil", "Diffstat")); diff != "" {
			t.Errorf("%s the executor was given something else:\n%s", what, diff)
		}
	}
	if noticed == 0 {
		t.Error("no notice is remembered")
	}
}

// TestTheDiffstatOfThePastIsOfATreeThatWasKnown, and says so.
func TestTheDiffstatOfThePastIsOfATreeThatWasKnown(t *testing.T) {
	t.Parallel()
	c := newCast(t, repository)
	e := c.open()
	c.supervisor.do("create_task", nil)
	c.holder.do("wait_for_task", nil)
	c.write("first", "1\n")
	c.holder.do("check", nil)
	c.holder.do("progress", nil)
	c.write("second", "2\n")
	if now := c.given(e, state.Executor, 0).Diffstat; !strings.Contains(now, "second") {
		t.Errorf("now it is %q", now)
	}
	c.holder.do("ask_human", nil)
	for seq, want := range map[uint64]string{2: "not known: no check had looked at the work tree by then", 5: "as check k1 found it:\n"} {
		got := c.given(e, state.Executor, seq).Diffstat
		if !strings.HasPrefix(got, want) || strings.Contains(got, "first") != (seq == 5) || strings.Contains(got, "second") {
			t.Errorf("after event %d it is %q", seq, got)
		}
	}
}

// TestWhileARollbackMovesFilesNobodyIsGivenAnything: a person is waited for.
func TestWhileARollbackMovesFilesNobodyIsGivenAnything(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	submitted(c)
	e := c.open()
	m, err := e.Moment(0)
	if err != nil {
		t.Fatal(err)
	}
	m.Task.Returning = state.FileMove{To: 1}
	for _, role := range []state.Role{state.Executor, state.Supervisor} {
		r, err := Preview(t.Context(), e, m, role)
		if err != nil || r.Status != "timeout" || !strings.HasSuffix(r.Message, "waits for the human") {
			t.Errorf("the %s: %+v, %v", role, r, err)
		}
	}
}

// TestOnlyAnEventCanBeLookedAt.
func TestOnlyAnEventCanBeLookedAt(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	if _, err := c.open().Moment(7); refusal.CodeOf(err) != refusal.InvalidInput {
		t.Error(err)
	}
}
