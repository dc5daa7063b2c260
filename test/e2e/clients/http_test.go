//go:build unix

package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/model"
)

// How clients come in, as the server's log says it. Claude Code takes the revision without sessions where it is offered.
const (
	overSSE     = "sse"
	sessions    = "streamable"
	sessionless = ""
)

// TestATaskOverHTTP: two clients talk to one server at the same time, from create_task to Complete, each in one go.
func TestATaskOverHTTP(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" for "+p.supervisor, func(t *testing.T) {
			usual := map[string]string{claude: sessionless, codex: sessions}
			overHTTP(t, p.supervisor, p.executor, "http", usual[p.supervisor], usual[p.executor])
		})
	}
}

// TestATaskOverSSE of an executor that comes over it.
func TestATaskOverSSE(t *testing.T) { overHTTP(t, codex, claude, overSSE, sessions, overSSE) }

// overHTTP lets an executor come in that way, and checks how the server saw both come.
func overHTTP(t *testing.T, supervisor, executor, way, supervisorCame, executorCame string) {
	r := newRig(t, supervisor, executor, naming(eventful(leave, model.Create(task))))
	s := r.serve("--wait", "3")
	execute, supervise := s.token(state.Executor, executor), s.token(state.Supervisor, supervisor)
	began := time.Now()
	worker := r.connect(executor, s, way, execute, "Work.")
	boss := r.connect(supervisor, s, "http", supervise, "Give the task, and see it through.")
	r.end(boss)
	t.Logf("%.1f s, %d requests", time.Since(began).Seconds(), len(r.model.Seen()))
	r.end(worker)
	s.stop()
	s.keepsNo(execute)
	s.keepsNo(supervise)
	for _, seen := range r.model.Seen() {
		if _, secret, ok := strings.Cut(seen.Packet().Claim, "-"); ok {
			s.keepsNo(secret)
			break
		}
	}
	if got := r.text("colour.txt"); got != painted {
		t.Errorf("colour.txt is %q, want %q", got, painted)
	}
	if got := r.events(); !slices.Equal(got, eventfully) {
		t.Errorf("journal %v\nwant    %v", got, eventfully)
	}
	came := map[string]string{supervisor: sessionless, executor: sessionless}
	for _, l := range s.log() {
		if l.Msg == "session" {
			came[l.Name] = l.Transport
		}
		if l.Code != "" {
			t.Errorf("%s is refused: %s", l.Tool, l.Code)
		}
	}
	t.Logf("they came by %q", came)
	if want := map[string]string{supervisor: supervisorCame, executor: executorCame}; !maps.Equal(came, want) {
		t.Errorf("want %q", want)
	}
	r.gone()
}

// TestTheModelSeesTheToolsOfItsTokenOverHTTP, and none of ours without a good one.
func TestTheModelSeesTheToolsOfItsTokenOverHTTP(t *testing.T) {
	t.Parallel()
	ways := []struct{ agent, way string }{{claude, "http"}, {claude, overSSE}, {codex, "http"}}
	r := newRig(t, claude, codex, model.Diligent(model.Answer(model.Say("Thank you."))))
	s := r.serve()
	for _, w := range ways {
		for _, role := range []state.Role{state.Supervisor, state.Executor} {
			t.Run(fmt.Sprintf("%s over %s as %s", w.agent, w.way, role), func(t *testing.T) {
				want := listed(role)
				before, secret := len(r.model.Seen()), s.token(role, w.agent+"-"+w.way)
				c := r.connect(w.agent, s, w.way, secret, "Look around.")
				r.end(c)
				if got := r.offered(before); !slices.Equal(got, want) {
					t.Errorf("it sees\n%v\nwant\n%v\n%.2000s", got, want, r.text(c.out))
				}
				s.keepsNo(secret)
			})
		}
		t.Run(fmt.Sprintf("%s over %s with a wrong token", w.agent, w.way), func(t *testing.T) {
			before, refused, secret := len(r.model.Seen()), s.refused(), strings.Repeat("wrong", 9)
			c := r.connect(w.agent, s, w.way, secret, "Look around.")
			switch w.agent {
			case claude: // goes on without
				r.end(c)
			case codex: // was told that it needs the server
				select {
				case err := <-c.done:
					if err == nil {
						t.Error("it went on")
					}
				case <-time.After(patience):
					t.Fatal("it does not end")
				}
			}
			if got := r.offered(before); len(got) > 0 {
				t.Errorf("it sees %v", got)
			}
			if s.refused() == refused {
				t.Errorf("nobody is refused\n%s", s.text())
			}
			s.keepsNo(secret)
		})
	}
	s.stop()
}

// offered are the tools of ours that a client has offered to its model since so many requests, sorted.
func (r *rig) offered(before int) []string {
	var names []string
	for _, seen := range r.model.Seen()[before:] {
		for _, tool := range seen.Tools {
			if tool.Server == "ferrus" && !slices.Contains(names, tool.Name) {
				names = append(names, tool.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// naming has the model name in each call what the results gave it for that: a client without a session is known by it.
func naming(policy model.Policy) model.Policy {
	return func(r model.Request) model.Reply {
		reply := policy(r)
		reply.Calls = slices.Clone(reply.Calls)
		last, _ := r.Last()
		names := map[string]string{"claim": r.Packet().Claim, "submission": last.SubmissionID, "consultation": last.ConsultationID}
		for i, c := range reply.Calls {
			args := map[string]any{}
			maps.Copy(args, c.Args)
			for _, tool := range tools.Catalogue() {
				for _, arg := range tool.Args {
					if c.Tool == "ferrus/"+tool.Name && names[arg.Name] != "" {
						args[arg.Name] = names[arg.Name]
					}
				}
			}
			reply.Calls[i].Args = args
		}
		return reply
	}
}

// leave ends the executor's turn when the task is complete: its tools would have it wait for the next one.
func leave(r model.Request) (model.Reply, bool) {
	last, ok := r.Last()
	return model.Say("It is done."), ok && r.Executor() && last.State == string(state.Complete)
}
