//go:build unix

package conductor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAnAnswerWhileARunEndsIsWorkedOn: a run has seen the question and is about to end. The answer comes before the run has given up its lock, so that
// nobody else starts one.
func TestAnAnswerWhileARunEndsIsWorkedOn(t *testing.T) {
	m := enginetest.Repository(t, enginetest.Gate("true")+"[hq.executor]\nagent = \"command\"\ncommand = \"true\"\n").Recorded().Agreed()
	s := m.Human()
	if _, err := s.CreateTask(t.Context(), "Build it.", ""); err != nil {
		t.Fatal(err)
	}
	e := s.Engine()
	enginetest.Must(e.Ask(t.Context(), enginetest.View(t, s), "Which one?", nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	worked := false
	_, err := conductor.Run(ctx, e, conductor.Options{Headless: true, Log: enginetest.Quiet, Show: func(v conductor.View) {
		switch v.Task.State {
		case state.AwaitingHuman:
			enginetest.Must(s.Answer(t.Context(), "", "The first."))(t)
		case state.Executing:
			worked = true
			cancel() // before an agent starts
		}
	}})
	if !worked || !errors.Is(err, conductor.ErrStopped) {
		t.Errorf("the answer is worked on: %v; %v", worked, err)
	}
}
