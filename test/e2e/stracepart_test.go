//go:build unix

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A feat is one act of a process of its own, which a fault strikes.
type feat struct {
	role  state.Role
	road  []step      // how the machine has come so far
	takes bool        // the process claims the work first
	event state.Event // what the act journals; "" when nothing
	do    step
}

// A step is something that a session does.
type step func(ctx context.Context, s *engine.Session) error

// token is what the act says, and following what the same process says when it goes on after it.
const token, following = "the act", "what follows"

// adapt makes a step of an act.
func adapt(do func(ctx context.Context, s *engine.Session) (engine.Done, error)) step {
	return func(ctx context.Context, s *engine.Session) error {
		_, err := do(ctx, s)
		return err
	}
}

func taking(ctx context.Context, s *engine.Session) error {
	got, _, err := s.AwaitTask(ctx, time.Millisecond, true)
	if err == nil && got == nil {
		err = errors.New("there is no work")
	}
	return err
}

func asking(ctx context.Context, s *engine.Session) error {
	_, err := s.AskHuman(ctx, token, nil)
	return err
}

func submitting(ctx context.Context, s *engine.Session) error {
	_, err := s.Submit(ctx, engine.Submitting{Summary: "Done.", Verification: "None.", NoChange: "None is needed."}, kit.Patience)
	return err
}

// feats are the acts that are struck.
var feats = map[string]feat{
	"create_task": {role: state.Supervisor, event: state.CreateTask, do: adapt(func(ctx context.Context, s *engine.Session) (engine.Done, error) {
		return s.CreateTask(ctx, token, "")
	})},
	"claim": {role: state.Executor, road: []step{}, event: state.Claim, do: func(ctx context.Context, s *engine.Session) error {
		err := taking(ctx, s)
		if refusal.CodeOf(err) == refusal.StoreError {
			err = taking(ctx, s) // the claim may stand though its packet could not be read: then it is had by asking again
		}
		return err
	}},
	"progress": {role: state.Executor, road: []step{}, takes: true, event: state.Progress, do: adapt(func(ctx context.Context, s *engine.Session) (engine.Done, error) {
		return s.Progress(ctx, token)
	})},
	"consult": {role: state.Executor, road: []step{}, takes: true, event: state.Consult, do: adapt(func(ctx context.Context, s *engine.Session) (engine.Done, error) {
		return s.Consult(ctx, engine.Consulting{Problem: "p", Tried: "t", Question: token})
	})},
	"heartbeat": {role: state.Executor, road: []step{}, takes: true, do: func(ctx context.Context, s *engine.Session) error {
		_, err := s.Heartbeat(ctx)
		return err
	}},
	"answer": {role: state.Human, road: []step{taking, asking}, event: state.Answer, do: adapt(func(ctx context.Context, s *engine.Session) (engine.Done, error) {
		return s.Answer(ctx, "", token)
	})},
	"reject": {role: state.Human, road: []step{taking, submitting}, event: state.Reject, do: adapt(func(ctx context.Context, s *engine.Session) (engine.Done, error) {
		return s.Reject(ctx, token, "")
	})},
	"reset": {role: state.Human, road: []step{taking, asking}, event: state.Reset, do: adapt(func(ctx context.Context, s *engine.Session) (engine.Done, error) {
		return s.Reset(ctx, token)
	})},
	"status": {role: state.Human, road: []step{taking, asking}, do: func(_ context.Context, s *engine.Session) error {
		_, err := s.Engine().Status()
		return err
	}},
}

// It is here and not in TestMain because strace counts the calls of each thread by itself: while a program is
// initialised, its first goroutine stays on its first thread.
func init() {
	if os.Getenv(part) == "feat" {
		os.Exit(perform(os.Args[1], os.Args[2], os.Args[3] == "dirty"))
	}
}

// An account is what the process says of its act.
type account struct {
	Code refusal.Code // of the refusal; "" when it was done
	Said string
	Next string // why the process could not go on after it; "" when it could
}

// perform makes one act between two marks on stdout, which an observer sees too, then one more, and gives an account.
func perform(root, name string, dirty bool) int {
	fail := func(err error) int { fmt.Fprintln(os.Stderr, "before the act:", err); return 1 }
	f, ctx := feats[name], context.Background()
	e, err := engine.Open(project.At(root, ""), engine.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return fail(err)
	}
	s := e.Session(engine.Caller{Role: f.role, Agent: string(f.role) + ":feat:1"})
	older, err := os.ReadFile(filepath.Join(root, "older.json"))
	if f.takes {
		if older, err = os.ReadFile(e.Place().Path("STATE.json")); err == nil {
			err = taking(ctx, s)
		}
	}
	if err == nil && dirty {
		err = soil(e.Place(), older)
	}
	if err != nil {
		return fail(err)
	}
	fmt.Println("begin")
	err = f.do(ctx, s)
	fmt.Println("end")
	a := account{Code: refusal.CodeOf(err)}
	if err != nil {
		a.Code, a.Said = cmp.Or(a.Code, refusal.StoreError), err.Error() // as the tools call what has no code
	}
	if err := follow(ctx, e); err != nil {
		a.Next = err.Error()
	}
	text, _ := json.Marshal(a)
	fmt.Printf("%s\n", text)
	return 0
}

// follow is the next act, whatever became of the one before.
func follow(ctx context.Context, e *engine.Engine) error {
	h := e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	snap, err := e.View()
	if err != nil {
		return err
	}
	if snap.Task.State == state.Idle {
		_, err = h.CreateTask(ctx, following, "")
	} else {
		_, err = h.Reset(ctx, following)
	}
	return err
}

// soil leaves what a crash may leave: a STATE.json that lags behind, and half a line at the journal's end.
func soil(s project.Place, older []byte) error {
	if err := os.WriteFile(s.Path("STATE.json"), older, 0o600); err != nil {
		return err
	}
	journal, err := os.ReadFile(s.Path("journal.jsonl"))
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(journal, []byte("\n"))
	torn := []byte(`{"v":2,"seq":`)
	if len(lines) > 1 {
		torn = lines[len(lines)-2]
	}
	f, err := os.OpenFile(s.Path("journal.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(torn[:len(torn)/2])
	return errors.Join(err, f.Close())
}
