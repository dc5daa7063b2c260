//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// A storm is many clients that do whatever they are allowed to, and remembers what was acknowledged.
type storm struct {
	*world
	mu    sync.Mutex
	acked map[string]state.Event // what a journal line must hold, exactly once
	calls map[string]int
	codes map[refusal.Code]int
}

func (s *storm) ack(key string, ev state.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked[key] = ev
}

// raises are the tools whose text argument is journalled, and the event that journals it.
var raises = map[string]struct {
	arg string
	ev  state.Event
}{
	"create_task": {"description", state.CreateTask}, "progress": {"note", state.Progress}, "consult": {"question", state.Consult},
	"respond_consult": {"response", state.RespondConsult}, "ask_human": {"question", state.AskHuman}, "submit": {"summary", state.Submit},
	"approve": {"note", state.Approve}, "reject": {"notes", state.Reject},
}

// naming are the tools that may have to name what they mean.
var naming = map[string]string{"approve": "submission", "reject": "submission", "respond_consult": "consultation"}

// arguments are those of a call that brings a token, and names what is known.
func arguments(tool, token string, known args) args {
	a := args{}
	if r, ok := raises[tool]; ok {
		a[r.arg] = token
	}
	switch tool {
	case "consult":
		a["problem"], a["tried"] = "p", "t"
	case "submit":
		a["verification"], a["no_change"] = "v", "There is none to make."
	}
	name, ok := naming[tool]
	if !ok && !slices.Contains([]string{"create_task", "status", "wait_for_review", "review_pending"}, tool) {
		name = "claim"
	}
	if value, ok := known[name]; ok {
		a[name] = value
	}
	return a
}

// races are refusals that a race explains; any other is a bug.
var races = []refusal.Code{"", refusal.WrongState, refusal.NotClaimed, refusal.LeaseLost, refusal.StaleReview, refusal.CheckRunning, refusal.TreeChanged}

// agent is one client that makes n calls, each one that its last result allowed.
func (s *storm) agent(c *client, id, n int) {
	rnd := rand.New(rand.NewPCG(uint64(id), 1))
	allowed, next := []string{"status"}, "status"
	for i := range n {
		tool := allowed[rnd.IntN(len(allowed))]
		if rnd.IntN(2) == 0 && next != "stop" && next != "choose" {
			tool = next
		}
		if rnd.IntN(10) == 0 {
			s.toggle("red")
		}
		token := fmt.Sprintf("token-%d-%d.", id, i)
		// A client that gives up is a client like any other: what it waited for may have happened.
		limit := kit.Patience
		if strings.HasPrefix(tool, "wait_") || rnd.IntN(20) == 0 {
			limit = time.Duration(10+rnd.IntN(300)) * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		res, err := c.Call(ctx, tool, arguments(tool, token, nil))
		cancel()
		if err != nil {
			if ctx.Err() == nil || limit == kit.Patience {
				s.t.Errorf("%s: %v", tool, err)
			}
			allowed, next = []string{"status"}, "status"
			continue
		}
		s.note(tool, token, res)
		if allowed, next = res.Allowed, res.Next; len(allowed) == 0 {
			allowed = []string{"status"}
		}
	}
}

// note remembers what a result acknowledges.
func (s *storm) note(tool, token string, res tools.Result) {
	s.mu.Lock()
	s.calls[tool]++
	s.codes[res.Code]++
	s.mu.Unlock()
	if !slices.Contains(races, res.Code) {
		s.t.Errorf("%s: %s: %s", tool, res.Code, res.Message)
	}
	if res.Code != "" || res.Repeated {
		return
	}
	switch r, ok := raises[tool]; {
	case tool == "submit" && res.Status != "submitted":
	case ok:
		s.ack(token, r.ev)
	case tool == "wait_for_task" && res.Status == "claimed":
		s.ack(fmt.Sprintf("%s %d.", res.Claim, res.Epoch), state.Claim)
	case tool == "check" && res.Status == "passed":
		s.ack(filepath.Base(res.Log), state.CheckPassed)
	case tool == "check" && res.Status == "failed":
		s.ack(filepath.Base(res.Log), state.CheckFailed)
	}
}

func (s *storm) toggle(name string) {
	if os.Remove(s.path(name)) != nil {
		s.write(name, "")
	}
}

// person answers what is asked and gives every end a new beginning, until the storm is over.
func (s *storm) person(over <-chan struct{}) {
	h := s.human()
	bell := h.Engine().Store().Watch()
	defer bell.Close()
	for n := 0; ; n++ {
		snap, err := h.Engine().View()
		if err != nil {
			s.t.Error(err)
			return
		}
		token := fmt.Sprintf("person-%d.", n)
		ctx := context.Background()
		switch {
		case snap.Task.State == state.AwaitingHuman:
			if _, err = h.Answer(ctx, snap.Task.Top().ID, token); err == nil {
				s.ack(token, state.Answer)
			}
		case snap.Task.State == state.Failed && n%2 == 0:
			if _, err = h.Reopen(ctx, token); err == nil {
				s.ack(token, state.Reopen)
			}
		case snap.Task.State == state.Failed, snap.Task.TaskID != "" && n%200 == 199:
			if _, err = h.Reset(ctx, token); err == nil {
				s.ack(token, state.Reset)
			}
		case snap.Task.ClaimedBy != "" && n%40 == 39:
			if _, err = h.Release(ctx, token); err == nil {
				s.ack(token, state.Release)
			}
		}
		if !slices.Contains(races, refusal.CodeOf(err)) || err != nil && refusal.CodeOf(err) == "" {
			s.t.Error(err)
		}
		select {
		case <-over:
			return
		case <-bell.C:
		}
	}
}

// reader reads STATE.json as any script would, and expects it whole at every moment.
func (s *storm) reader(over <-chan struct{}) (reads int) {
	if sharedtest.On() {
		return 0 // there it is no view of the task
	}
	var last state.Task
	for ; ; reads++ {
		var now state.Task
		data, err := os.ReadFile(s.path(".ferrus/STATE.json"))
		if err == nil {
			err = json.Unmarshal(data, &now)
		}
		if err != nil || !now.State.Known() || now.Seq < last.Seq || now.Epoch < last.Epoch {
			s.t.Errorf("STATE.json: %v: %s, seq %d after %d, epoch %d after %d\n%s", err, now.State, now.Seq, last.Seq, now.Epoch, last.Epoch, data)
			return reads
		}
		last = now
		select {
		case <-over:
			return reads
		case <-time.After(time.Millisecond): // or it would be all that this machine does
		}
	}
}

// TestNoUpdateIsLostInAStorm: what was acknowledged stands in the journal once, and the journal is what the table allows.
func TestNoUpdateIsLostInAStorm(t *testing.T) {
	t.Parallel()
	clients, calls := rounds(6, 16), rounds(30, 200)
	s := &storm{world: repository(t, "[checks]\ncommands = [\"test ! -e red\"]\n[limits]\nmax_check_retries = 3\nmax_same_failure = 2\n"+stormyRules),
		acked: map[string]state.Event{}, calls: map[string]int{}, codes: map[refusal.Code]int{}}
	all := make([]*client, clients)
	for i := range all {
		all[i] = s.start([]state.Role{state.Supervisor, state.Executor}[i%2], fmt.Sprint("agent-", i))
	}
	over := make(chan struct{})
	var beside, agents sync.WaitGroup
	reads := 0
	beside.Go(func() { s.person(over) })
	beside.Go(func() { reads = s.reader(over) })
	began := time.Now()
	for i, c := range all {
		agents.Go(func() { s.agent(c, i, calls) })
	}
	agents.Wait()
	took := time.Since(began)
	close(over)
	beside.Wait()
	for _, c := range all {
		_ = c.Close()
	}
	lines := s.history()
	t.Logf("%d processes, %d calls each in %v: %d events, %d reads of STATE.json; %v %v", clients, calls, took.Round(time.Millisecond),
		len(lines), reads, s.calls, s.codes)
	s.sound(lines)
	s.found(lines)
	for _, text := range s.followed(lines) {
		t.Error(text)
	}
}

// sound is that every line follows from the one before by the table.
func (s *storm) sound(lines []*store.Line) {
	prev := state.New()
	for i, l := range lines {
		by := l.Actor.Role
		if by == state.Executor && l.Event != state.Claim {
			by = state.Holder
		}
		next, err := state.Step(prev, l.Event, by, state.Limits{CheckRetries: 3, ReviewCycles: 3})
		if err != nil {
			s.t.Fatalf("line %d: %v", i+1, err)
		}
		if l.Seq != uint64(i+1) || l.From != prev.State || l.To != next.State || l.State.State != next.State || l.Epoch != next.Epoch ||
			l.State.CheckRetries != next.CheckRetries || l.State.ReviewCycles != next.ReviewCycles || len(l.State.Paused) != len(next.Paused) {
			s.t.Fatalf("line %d is %s: %s -> %s, the table says %s -> %s", i+1, l.Event, l.From, l.To, prev.State, next.State)
		}
		if by == state.Holder && l.Actor.Session != prev.Session {
			s.t.Errorf("line %d: %s by a session that does not hold the work", i+1, l.Event)
		}
		if l.Actor.Agent == "" {
			s.t.Errorf("line %d: nobody did it", i+1) // S1-16
		}
		prev = l.State
	}
}

// found is that what was acknowledged is there, once.
func (s *storm) found(lines []*store.Line) {
	times := map[string]int{}
	for _, l := range lines {
		text := l.Note
		for _, doc := range l.Docs {
			text += "\n" + doc
		}
		switch l.Event {
		case state.Claim:
			text = fmt.Sprintf("%s %d.", l.Actor.Session, l.Epoch)
		case state.CheckPassed, state.CheckFailed:
			text = filepath.Base(l.State.Check.Log)
		}
		for key, ev := range s.acked {
			if l.Event == ev && strings.Contains(text, key) {
				times[key]++
			}
		}
	}
	for key, ev := range s.acked {
		if times[key] != 1 {
			s.t.Errorf("%s %s was acknowledged and stands %d times in the journal", ev, key, times[key])
		}
	}
	if len(s.acked) == 0 {
		s.t.Error("nothing was acknowledged")
	}
}
