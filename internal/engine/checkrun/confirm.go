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
// files before anybody reviews them. It returns "" if they pass here or there is nothing to confirm, and otherwise a question to the
// person. The task stays as it is. before is called when the checks begin to run.
//
// The log of the newest check lies on the computer that has judged it, by this function too.
func (r *Runner) Confirm(ctx context.Context, snap store.Snapshot, gate config.Gate, before func()) (question string, err error) {
	check := snap.Task.Check
	if !gate.Checks.Clean() || !r.place.InDatabase() || check.Log == "" {
		return "", nil
	}
	root, err := r.place.OpenDir()
	if err != nil {
		return "", err
	}
	defer root.Close()
	if _, err := root.Lstat(check.Log); err == nil {
		return "", nil
	}
	before()
	log := strings.TrimSuffix(check.Log, ".log") + "-here.log"
	res, err := r.JudgeClean(ctx, snap, gate, snap.Task.Submission.Tree, log)
	switch {
	case err != nil:
		return "", err
	case res.Status != checks.Passed:
		return unlike(res, r.place.Path(log)), nil
	}
	return "", refusal.Folder(root.Rename(log, check.Log))
}

// unlike is the question about checks that pass on another computer alone.
func unlike(here checks.Result, log string) string {
	host, _ := os.Hostname()
	var b strings.Builder
	fmt.Fprintf(&b, "The checks pass on the computer of the executor, and not on %s, where the reviewer would start. No reviewer was started.\n", cmp.Or(host, "this one"))
	explain(&b, here)
	fmt.Fprintf(&b, "\nThe whole output, on that computer: %s\n\nWhat is different there? Change it, and answer: any answer tries again.", log)
	return b.String()
}

// explain writes why a run of checks did not pass, with the end of what each command printed.
func explain(b *strings.Builder, run checks.Result) {
	for _, c := range run.Failures() {
		fmt.Fprintf(b, "\n%s: %s\n", c.Line, c)
		if c.Tail != "" {
			fmt.Fprintf(b, "%s\n", c.Tail)
		}
	}
	if run.Err != "" {
		fmt.Fprintf(b, "\n%s\n", run.Err)
	}
}
