package engine

import (
	"context"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Scorable returns the tree that a score of the task would be about: the submitted one, or the one whose checks passed. It
// refuses work that has none, and without git, where nobody can tell one tree from another.
func (s *Session) Scorable(now store.Snapshot) (string, error) {
	if _, err := state.Step(now.Task, state.Scored, state.Engine, state.Limits{}); err != nil {
		return "", &refusal.RefusedError{Code: refusal.WrongState, Message: "there is no checked work to score: the task is " + string(now.Task.State),
			Remedy: "score it when its checks have passed", Person: true}
	}
	tree := now.Task.Submission.Tree
	if now.Task.State.InHand() {
		tree = now.Task.Check.Tree
		if now.Task.Check.Status != state.CheckGreen {
			return "", &refusal.RefusedError{Code: refusal.CheckRunning, Message: "the work is being checked again", Remedy: "score it when its checks have passed"}
		}
	}
	if tree == "" {
		return "", &refusal.RefusedError{Code: refusal.WrongState, Message: "a score needs a git repository, and the task began without one",
			Remedy: "run git init and commit once, then create the task again", Person: true}
	}
	return tree, nil
}

// EnterScore enters a score that ferrus has taken. It is refused where the work or the gate are no longer those of the score.
func (s *Session) EnterScore(ctx context.Context, score state.Score) (Done, error) {
	return s.commit(ctx, s.scoring(score))
}

// scoring is the entry of a score.
func (s *Session) scoring(score state.Score) transition {
	return transition{event: state.Scored, as: state.Engine, note: strconv.FormatFloat(score.Value, 'g', -1, 64),
		check: func(now store.Snapshot) error {
			tree, err := s.Scorable(now)
			if err != nil {
				return err
			}
			if !score.Counts(now.Task, tree) {
				return &refusal.RefusedError{Code: refusal.TreeChanged, Message: "the work or its frozen checks changed while the score was taken",
					Remedy: "score it again", Person: true}
			}
			return nil
		},
		apply: func(_ store.Snapshot, next *state.Task) { next.Score = score }}
}
