//go:build unix

package schedule

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// familyAgent plays a role at a branch, in its work tree. The text of a task says what its executor does:
//
//	parts: TASK; TASK ...   it gives each to a delegate, waits for all, and submits
//	write NAME              it writes a file and submits; "badly" the first time is rejected
//	die N                   it is killed N times before it does
//	fail                    it ends without doing anything
//
// A file hold-WORD of the side makes an executor wait whose task has the word. A reviewer approves.
func familyAgent() int {
	return play(func(ctx context.Context, side, branch, _ string, s *engine.Session) int {
		note(side, "reviewer "+branch)
		if _, _, err := s.Review(ctx); err != nil {
			return 7
		}
		if _, err := s.Approve(ctx, "", ""); err != nil {
			return 8
		}
		return 0
	}, familyExecutor)
}

func familyExecutor(ctx context.Context, side, branch, task string, s *engine.Session) int {
	if strings.HasPrefix(task, "fail") {
		return 1
	}
	if got, _, err := s.AwaitTask(ctx, kit.Patience, true); err != nil || got == nil {
		return 9
	}
	note(side, "executor "+branch)
	if rest, cut := strings.CutPrefix(task, "parts: "); cut {
		return parent(ctx, side, s, strings.Split(rest, "; "))
	}
	words := strings.Fields(task)
	for i, w := range words {
		if w == "die" {
			for n := range words[i+1] {
				if once(side, branch+"-died-"+string(rune('0'+n))) && n < int(words[i+1][0]-'0') {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
			}
		}
		waitFile(ctx, filepath.Join(side, "hold-"+w), false)
	}
	return child(ctx, s, words)
}

// child writes its file.
func child(ctx context.Context, s *engine.Session, words []string) int {
	now, err := s.Engine().View()
	if err != nil {
		return 10
	}
	for i, w := range words {
		if w == "write" {
			text := "well\n"
			if now.Task.ReviewCycles == 0 && strings.Contains(strings.Join(words, " "), "badly") {
				text = "badly\n"
			}
			_ = os.WriteFile(words[i+1], []byte(text), 0o644)
		}
	}
	if _, err := s.Submit(ctx, engine.Submitting{Summary: "Done.", Verification: "Looked."}, kit.Patience); err != nil {
		return 11
	}
	return 0
}

// parent gives the parts away and decides about them. It goes on where an earlier one was killed.
func parent(ctx context.Context, side string, s *engine.Session, parts []string) int {
	e := s.Engine()
	for {
		now, err := e.View()
		if err != nil {
			return 12
		}
		if n := len(now.Task.Delegates); n < len(parts) {
			if _, _, err := delegate.Start(ctx, s, parts[n], "", kit.Patience); err != nil {
				return 13
			}
			continue
		}
		list, due, err := delegate.Wait(ctx, s, "", kit.Patience)
		switch {
		case err != nil:
			return 14
		case due == nil && anyOpen(list):
			continue
		case due == nil:
			if _, err := s.Submit(ctx, engine.Submitting{Summary: "Done.", Verification: "Looked.", NoChange: "All failed."}, kit.Patience); err != nil {
				return 15
			}
			return 0
		}
		s.ShowDelegate(due.ID, due.On)
		r, err := delegate.Review(ctx, e, *due)
		if err != nil {
			return 16
		}
		patch, _ := os.ReadFile(r.Patch)
		if strings.Contains(string(patch), "+badly") {
			_, _, err = delegate.Decide(ctx, s, due.ID, state.RuledReject, "", "Do it well.", kit.Patience)
		} else {
			waitFile(ctx, filepath.Join(side, "hold-approve"), false)
			_, _, err = delegate.Decide(ctx, s, due.ID, state.RuledApprove, "", "", kit.Patience)
		}
		if err != nil {
			note(side, "decide: "+err.Error())
			return 17
		}
	}
}

func anyOpen(list []delegate.Child) bool {
	for _, c := range list {
		if c.Open() {
			return true
		}
	}
	return false
}
