package checkrun

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Confirm has this computer judge what is under review, if another one has judged it: with a clean gate two computers have judged the same
// files before anybody reviews them. It returns no question if they pass here or there is nothing to confirm, and otherwise one to the
// person. The task stays as it is. before is called when the checks begin to run.
//
// The log of the newest check lies on the computer that has judged it, by this function too.
func (r *Runner) Confirm(ctx context.Context, snap store.Snapshot, gate config.Gate, before func()) (question Question, err error) {
	check := snap.Task.Check
	if !gate.Checks.Clean() || !r.place.InDatabase() || check.Log == "" {
		return question, nil
	}
	root, err := r.place.OpenDir()
	if err != nil {
		return question, err
	}
	defer root.Close()
	if _, err := root.Lstat(check.Log); err == nil {
		return question, nil
	}
	before()
	log := strings.TrimSuffix(check.Log, ".log") + "-here.log"
	res, err := r.JudgeClean(ctx, snap, gate, snap.Task.Submission.Tree, log)
	switch {
	case err != nil:
		return question, err
	case res.Status != checks.Passed:
		return unlike(res, r.place.Path(log)), nil
	}
	return question, refusal.Folder(root.Rename(log, check.Log))
}

// A Question is one to a person about commands of the project that failed. The zero value asks nothing.
type Question struct {
	Text   string
	Output string // the end of what they printed, see checks.Output; notifications leave it out, as they go to services of others
}

// unlike is the question about checks that pass on another computer alone.
func unlike(here checks.Result, log string) Question {
	host, _ := os.Hostname()
	return Question{fmt.Sprintf("The checks pass on the computer of the executor, and not on %s, where the reviewer would start. No reviewer was started.\n", cmp.Or(host, "this one")) +
		reason(here) + fmt.Sprintf("\nThe whole output, on that computer: %s\n\nWhat is different there? Change it, and answer: any answer tries again.", log), checks.Output(here.Failures())}
}

// reason says in a line of its own why a run of checks did not pass.
func reason(run checks.Result) string {
	text := cmp.Or(run.Err, Failures(run.Failures()))
	if text == "" {
		return ""
	}
	return "\n" + text + "\n"
}
