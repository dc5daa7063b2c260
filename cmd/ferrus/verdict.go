package main

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A verdict is a person's word on a task, to be said in a sentence.
type verdict struct {
	verb string // of the command line
	what string // to stand after "cannot"
	act  func(ctx context.Context, s *engine.Session, text string) (engine.Done, error)
	told func(a *app, done engine.Done)
}

// pass carries a verdict out and shows what became of it, in --json with what more says.
func (a *app) pass(ctx context.Context, v verdict, text string, more ...func() map[string]any) error {
	s, err := a.person(ctx, v.verb)
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	done, err := v.act(ctx, s, text)
	if err != nil {
		return failed(v.what, standing(e), err)
	}
	if a.json {
		facts := verdictFacts(done.Task)
		for _, f := range more {
			maps.Copy(facts, f())
		}
		return a.print(facts)
	}
	v.told(a, done)
	return a.onward(e)
}

// onward shows what a person can do about the task as it is now.
func (a *app) onward(e *engine.Engine) error {
	r, err := gather(e)
	if err == nil {
		a.next(r.Next)
	}
	return err
}

// needText is the text of a command that must be given one.
func (a *app) needText(cmd *cobra.Command, from source, remedy string) (string, error) {
	if !said(cmd, nil) {
		return "", usage(remedy, "ferrus %s needs a message", cmd.Name())
	}
	return a.text(from, nil)
}

// printVerdict is what a program is told of a task on which a person has said something; verdictJSON says so.
func (a *app) printVerdict(t state.Task) error {
	return a.print(verdictFacts(t))
}

func verdictFacts(t state.Task) map[string]any {
	return map[string]any{"task_id": t.TaskID, "state": t.State, "seq": t.Seq, "epoch": t.Epoch}
}

const verdictJSON = "\n\nWith --json: task_id state seq epoch."
