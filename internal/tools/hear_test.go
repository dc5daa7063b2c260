//go:build unix

package tools

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
	"github.com/ferrus-go/ferrus/test/kit"
)

// steers messages the running agent.
func (c *cast) steers() {
	c.t.Helper()
	done, err := c.person.Steer(c.t.Context(), "Use blue.")
	must(c.t, done, err)
}

// heard is what a result says from the person, among the decisions or before everything else.
func heard(r Result) (list []string) {
	list = slices.Clone(r.FromThePerson)
	for _, d := range r.Decisions {
		if strings.HasPrefix(d.ID, "steer-") {
			list = append(list, d.Answer)
		}
	}
	return list
}

// TestWhoeverHoldsTheWorkHearsWithItsNextCall, whatever that is and however it ends, and once. S2-17.
func TestWhoeverHoldsTheWorkHearsWithItsNextCall(t *testing.T) {
	for _, tool := range Catalogue() {
		if !tool.For(state.Executor) || tool.Name == delegateTool { // this task may have none
			continue
		}
		t.Run(tool.Name, func(t *testing.T) {
			t.Parallel()
			handed := tool.Name == "submit"
			in := newWorld
			if handed { // which must trust the check before it, or is running
				in = repository
			}
			c := newCast(t, in)
			checked(c)
			c.steers()
			args := samples[tool.Name]
			if args == nil {
				args = map[string]any{}
			}
			res, err := c.holder.client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			text := res.Content[0].(*mcp.TextContent).Text
			r, first := read(t, res), strings.HasPrefix(text, `{"from_the_person":["Use blue."],`)
			// Who has handed the work in must not touch it again: its reviewer hears, and then the executor that fixes it.
			switch got := heard(r); {
			case handed && len(got) > 0:
				t.Errorf("handed in, it hears %v", got)
			case !handed && !slices.Equal(got, []string{"Use blue."}):
				t.Errorf("it hears %v: %s", got, text)
			case !handed && first == (tool.Name == "wait_for_task"):
				t.Errorf("it reads %.200s", text)
			}
			if r := c.holder.do("status", nil); len(heard(r)) > 0 {
				t.Errorf("again it hears %v", heard(r))
			}
			for name, a := range c.callers() {
				if got := heard(a.call("status", nil)); name != "supervisor" && len(got) > 0 {
					t.Errorf("the %s hears %v", name, got)
				}
			}
		})
	}
}

// TestAHolderHearsWithARefusal, and with a wait that ended for another reason.
func TestAHolderHearsWithARefusal(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	c.steers()
	if r := c.holder.refused(refusal.InvalidInput, "progress", map[string]any{"noet": "n"}); len(r.FromThePerson) != 1 {
		t.Errorf("%+v", r)
	}
	patient := c.enter(state.Executor, 4, func(o *Options) { o.Wait = kit.Patience })
	done, err := c.person.Release(t.Context(), "")
	must(t, done, err)
	patient.do("wait_for_task", nil)
	patient.do("ask_human", nil)
	waited := make(chan Result)
	go func() { waited <- patient.do("wait_for_answer", nil) }()
	c.steers()
	done, err = c.person.Answer(t.Context(), "", "1")
	must(t, done, err)
	if r := <-waited; r.Status != "answered" || len(r.FromThePerson) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestACallThatWasGivenUpHearsNothing: nobody would read it.
func TestACallThatWasGivenUpHearsNothing(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	c.steers()
	over, giveUp := context.WithCancel(t.Context())
	giveUp()
	opts := Options{Session: func(*mcp.CallToolRequest) (*engine.Session, error) { return c.holder.s, nil },
		gate: &gate.Gate{Watchdog: gate.Watchdog{Log: slog.New(slog.DiscardHandler)}}}
	status := Catalogue()[slices.IndexFunc(Catalogue(), func(t Tool) bool { return t.Name == "status" })]
	if _, err := opts.handler(status)(over, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: "status"}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("a call that was given up: %v", err)
	}
	if r := c.holder.do("status", nil); len(heard(r)) != 1 {
		t.Errorf("the next call hears %v", heard(r))
	}
}

// TestASupervisorHearsWhenItIsItsTurn: with a submission among the decisions, with a consultation before it.
func TestASupervisorHearsWhenItIsItsTurn(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	c.steers()
	if r := c.supervisor.do("status", nil); len(heard(r)) > 0 {
		t.Errorf("while another works it hears %v", heard(r))
	}
	c.holder.do("consult", earlier["consult"])
	if r := c.supervisor.do("wait_for_review", nil); len(r.FromThePerson) != 1 {
		t.Errorf("with a consultation it hears %v", heard(r))
	}
	if r := c.supervisor.do("wait_for_review", nil); len(heard(r)) > 0 {
		t.Errorf("again it hears %v", heard(r))
	}
	c.supervisor.do("respond_consult", nil)
	c.holder.do("wait_for_consult", nil)
	c.holder.do("submit", nil)
	next := c.enter(state.Supervisor, 2)
	if r := next.do("review_pending", nil); len(r.FromThePerson) > 0 || len(heard(r)) != 1 {
		t.Errorf("with a submission it hears %v", heard(r))
	}
	if r := next.do("status", nil); len(heard(r)) > 0 {
		t.Errorf("again it hears %v", heard(r))
	}
	c.steers()
	if r := next.do("status", nil); len(r.FromThePerson) != 1 {
		t.Errorf("what is said while it reviews: %v", heard(r))
	}
}

// TestACallerWithoutASessionHearsOncePerClaim.
func TestACallerWithoutASessionHearsOncePerClaim(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	c.supervisor.do("create_task", nil)
	far := c.from(state.Executor, "ci")
	claim := far.do("wait_for_task", nil).Claim
	c.steers()
	if r := far.do("status", nil); len(heard(r)) > 0 {
		t.Errorf("nobody knows who asks, and it hears %v", heard(r))
	}
	for i, want := range []int{1, 0} {
		if r := far.do("heartbeat", with("heartbeat", claim)); len(r.FromThePerson) != want {
			t.Errorf("call %d hears %v", i, heard(r))
		}
	}
}
