package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// A Caller is on whose behalf a session acts.
type Caller struct {
	Role  state.Role // Supervisor, Executor or Human
	Agent string     // role:agent:index, such as executor:codex:1; "human" for a person
	TTY   bool       // a person at a terminal
	Via   string     // what a person acts by, when it is no command: ui or web; that this is a person was made sure of there
	Tree  string     // the processes that the caller comes from, nearest first; stands in the journal beside each decision
	On    Subject    // what a person decides on: an event of another task, or of another submission, is refused
	Once  bool       // its session ends with this call: what the caller was shown before is not known, and must be named
}

// A Subject is the task and the submission that a person was shown, "" for what was not named.
type Subject struct{ Task, Submission string }

// Present refuses with wrong_state if the task, or its submission, is not the one that the person was shown.
func (on Subject) Present(t state.Task) error {
	for _, is := range []struct{ what, shown, now string }{{"task", on.Task, t.TaskID}, {"submission", on.Submission, t.Submission.ID}} {
		if is.shown != "" && is.shown != is.now {
			return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("%s %s is not the present one, which is %s", is.what, is.shown, cmp.Or(is.now, "none")),
				Remedy: "ferrus status{branch} shows the task as it is now", Person: true}
		}
	}
	return nil
}

// A Session is a connected caller: its role, name and claim. It is one connection of an agent, or one command of a person. Two
// processes of one agent name are two sessions, and so two holders.
type Session struct {
	Caller
	ID string // random; unique for ever

	e             *Engine
	token, secret string // of a remote session: whose it is, and what its claim is made of

	mu       sync.Mutex
	live     io.Closer // held from before the first claim
	epoch    uint64    // under which this session last held the work; 0 when it never did
	last     int64     // when the client called last, in nanoseconds of the monotonic clock, for max_silence_secs
	shown    shown
	messages handover.Shown
	seen     map[string]string // of each delegate, by its id: the submission or the consultation that was shown
}

// shown is what a reviewer has before it, and in which task.
type shown struct{ task, submission, consultation string }

// Session opens a session for a caller.
func (e *Engine) Session(c Caller) *Session {
	return &Session{Caller: c, ID: uuid.NewString(), e: e, last: e.opts.Clock().Nanos}
}

// Engine returns the engine of the session.
func (s *Session) Engine() *Engine { return s.e }

// Close frees the session's liveness lock, as the end of its process does: what it had claimed can be claimed by others.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return nil
	}
	live := s.live
	s.live = nil
	return live.Close()
}

// Holds reports whether this session holds the task under the present epoch.
func (s *Session) Holds(t state.Task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.ClaimedBy != "" && t.Session == s.ID && t.Epoch == s.epoch
}

// Replaced reports whether a rule has taken the work from this session and given it to another executor.
func (s *Session) Replaced(t state.Task) bool { return t.Assigned.Was == s.ID && !s.Holds(t) }

// As returns the role in which this session meets the task: the executor that holds it is its holder.
func (s *Session) As(t state.Task) state.Role {
	if s.Role == state.Executor && s.Holds(t) {
		return state.Holder
	}
	return s.Role
}

// Shown reports whether the reviewer has the present submission, or the present consultation, before it.
func (s *Session) Shown(t state.Task) (submission, consultation bool) {
	if s.Role == state.Human {
		return true, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.shown.task == t.TaskID && t.TaskID != ""
	return mine && s.shown.submission == t.Submission.ID, mine && s.shown.consultation == t.Consultation.ID
}

func (s *Session) show(t state.Task, submission, consultation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown.task != t.TaskID {
		s.shown = shown{task: t.TaskID}
	}
	if submission != "" {
		s.shown.submission = submission
	}
	if consultation != "" {
		s.shown.consultation = consultation
	}
}

// An transition is one event that a session wants to raise, and what it does beside the state.
type transition struct {
	event state.Event
	as    state.Role // Engine where ferrus itself acts for the session; else left empty
	docs  map[state.Doc]string
	drop  []state.Doc
	note  string
	arg   string // what else tells this request from another one
	back  uint64 // of a rollback: seq of the line to which it leads
	keeps bool   // the caller keeps the files of the work

	seen map[string]uint64 // the newest line of the branch of each open delegate, as far as it is known

	rule string      // the rule by which ferrus acts; "" where nobody acts by one
	on   *store.Line // of a rule: the line that it follows

	// check refuses on facts that only hold under the lock; nil when there are none.
	check func(now store.Snapshot) error
	// apply puts the event's facts over the task; nil when there are none.
	apply func(now store.Snapshot, next *state.Task)
}

// A Done is what became of an act.
type Done struct {
	store.Snapshot
	Repeated bool   // the same request had been carried out already; nothing was changed now
	Rule     string // the rule by which ferrus acted after it; the snapshot is that after both
}

// commit commits an act: the one way in which a session changes the machine.
func (s *Session) commit(ctx context.Context, a transition) (Done, error) {
	var repeated bool
	if err := s.e.ours(); err != nil {
		return Done{}, err
	}
	req := a.request()
	a.seen = s.e.branchesSeen()
	after, err := s.e.store.Apply(ctx, func(now store.Snapshot) (*store.Change, error) {
		if repeated = s.repeats(now, req); repeated {
			return nil, nil
		}
		if a.rule == "" && s.e.unsettled(now) {
			return nil, errRuleFirst
		}
		return s.change(now, a, req)
	})
	if err == errRuleFirst {
		if after, err = s.e.FollowRules(ctx); err != nil {
			return Done{Snapshot: after}, err
		}
		return s.commit(ctx, a)
	}
	after = s.e.here(after)
	if err != nil {
		return Done{Snapshot: after}, refusal.From(s.explain(err))
	}
	if repeated {
		return Done{Snapshot: after, Repeated: true}, nil
	}
	if !a.keeps {
		s.e.snapshotAfter(a.event, after, "")
	}
	s.e.markLater(after)
	return s.e.thenRules(ctx, Done{Snapshot: after}), nil
}

// thenRules takes the step that a rule wants after an act. If it fails, the next writer takes it.
func (e *Engine) thenRules(ctx context.Context, done Done) Done {
	if !e.unsettled(done.Snapshot) {
		return done
	}
	now, err := e.FollowRules(ctx)
	if err != nil {
		e.log.Warn("a rule was not followed; the next act of anybody does it", "error", err)
		return done
	}
	if now.Task.Seq == done.Task.Seq+1 && now.Top != nil && now.Top.Rule != "" {
		done.Snapshot, done.Rule = now, now.Top.Rule
	}
	return done
}

// errRuleFirst says that a rule is due, which comes before whatever else happens.
var errRuleFirst = errors.New("a rule is due")

// change decides an act on the present, under the store's lock.
func (s *Session) change(now store.Snapshot, a transition, req string) (*store.Change, error) {
	if err := s.On.Present(now.Task); err != nil {
		return nil, err
	}
	by := a.as
	if by == "" {
		if err := s.checkHolder(now, a.event); err != nil {
			return nil, err
		}
		by = s.As(now.Task)
	}
	lim, err := s.e.settings.Limits(now)
	if err != nil && !ungated[a.event] {
		return nil, err
	}
	next, err := state.Step(now.Task, a.event, by, lim)
	if err != nil {
		return nil, err
	}
	if a.check != nil {
		if err := a.check(now); err != nil {
			return nil, err
		}
	}
	if n := len(next.Paused); n > len(now.Task.Paused) {
		next.Paused[n-1].By, next.Paused[n-1].Since = s.Agent, s.e.stamp()
	}
	if next.State != now.Task.State {
		next.Since = s.e.stamp()
	}
	if a.apply != nil {
		a.apply(now, &next)
	}
	if s.e.published.Shared() {
		next.Worktree = "" // other computers have other folders
	}
	noteBranches(&next, a.seen)
	actor := s.actor(by)
	if actor.Unattended() {
		next.Unattended = state.Remember(next.Unattended, state.Record{ID: string(a.event), Off: now.Journal.Bytes})
	}
	if a.on != nil { // for the session after whose act it is, so that a repetition of that act is recognised
		actor.Session, req = a.on.Actor.Session, a.on.Req
	}
	if decisions[a.event] {
		actor.Tree = s.Tree
	}
	change := &store.Change{Actor: actor, Event: a.event, Next: next, Docs: a.docs, Drop: a.drop, Note: a.note, Back: a.back, Rule: a.rule, Req: req}
	if term, ok := s.e.term(now, next, by); ok {
		change.Lease = &term
	}
	return change, nil
}

// decisions are the events that judge the work of others, or speak for a person: their lines name the process tree that
// they came from. That of a claim does, too: by it a hook knows the client that has the work.
var decisions = map[state.Event]bool{state.Claim: true, state.Approve: true, state.Reject: true, state.Select: true, state.RespondConsult: true,
	state.Answer: true, state.AcceptConfig: true, state.Reset: true, state.Reopen: true}

// ungated are the events that replace a gate which cannot be read, or end the task.
var ungated = map[state.Event]bool{state.AcceptConfig: true, state.Reset: true, state.RollbackBegun: true, state.Rollback: true}

func (s *Session) actor(by state.Role) store.Actor {
	return store.Actor{Role: by.Public(), Agent: s.Agent, Session: s.ID, TTY: s.TTY, Via: s.Via}
}

// term is the lease after an event: its holder's acts renew it, and it starts afresh when a pause ends or the holder's
// wait is over.
func (e *Engine) term(now store.Snapshot, next state.Task, by state.Role) (store.Lease, bool) {
	resumed := len(next.Paused) < len(now.Task.Paused) || now.Task.Waits() && !next.Waits()
	claimed := next.Epoch != now.Task.Epoch
	if next.ClaimedBy == "" || !(by == state.Holder || resumed || claimed) {
		return store.Lease{}, false
	}
	return e.grant(next.Session), true
}

// grant is a lease given or renewed now to a session.
func (e *Engine) grant(session string) store.Lease {
	conf, _ := e.Config() // a broken file leaves the last valid one
	ttl, now := conf.Lease.TTL(), e.stamp()
	if live.IsSession(session) {
		ttl = conf.Lease.MaxSilence()
	}
	return store.Lease{Term: lease.Grant(e.opts.Clock(), ttl), Until: now.Add(ttl), Heartbeat: now}
}

// stamp is now as it is written: UTC, in milliseconds.
func (e *Engine) stamp() time.Time { return e.opts.Now().UTC().Truncate(time.Millisecond) }

// request names what the act asks for, so that the same request made again is recognised: a client that gives up
// waiting makes its model repeat itself.
func (a transition) request() string {
	if a.as != "" {
		return ""
	}
	text, err := json.Marshal([]any{a.event, a.docs, a.note, a.arg, a.back})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// repeats reports whether the newest event is this session's own and answers the same request.
func (s *Session) repeats(now store.Snapshot, req string) bool {
	return now.Top != nil && req != "" && now.Top.Req == req && now.Top.Actor.Session == s.ID
}
