package checkrun

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// trialsFile lists the gates whose checks were tried in their sandbox, a digest a line. It lies in the .ferrus of the project.
const trialsFile = "trials"

// maxTrials bounds it, in bytes.
const maxTrials = 1 << 20

// trialLog is where the output of a trial is, relative to the folder of the machine.
const trialLog = "logs/check-trial.log"

// Try finds out whether the sandbox of the checks makes them fail: once for each gate it runs them on the work tree as it is in the
// sandbox, and, unless they pass there, without it. It returns no question if the sandbox is not the reason, and otherwise one to
// the person. The task stays as it is. before is called when the checks begin to run, with the name of their sandbox. Where an executor
// has worked in a sandbox nothing is tried: what it wrote must not run without one.
func (r *Runner) Try(ctx context.Context, snap store.Snapshot, gate config.Gate, before func(sandbox string)) (question Question, err error) {
	if gate.Checks.Commands == nil || !gate.Checks.Sandboxed() || confine.Of(r.place.Dir()).Used() {
		return question, nil
	}
	name, err := nameOf(ctx, gate.Checks)
	if err != nil {
		return question, err
	}
	text, err := json.Marshal([]any{name, gate.Checks, gate.Setup})
	if err != nil {
		return question, err
	}
	root, err := r.place.OpenHome()
	if err != nil {
		return question, err
	}
	defer root.Close()
	digest := fmt.Sprintf("%x\n", sha256.Sum256(text))
	known, err := root.ReadFile(trialsFile, maxTrials)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return question, refusal.Folder(err)
	}
	if strings.Contains(string(known), digest) {
		return question, nil
	}
	before(name)
	inside, err := r.try(ctx, snap, gate)
	if err != nil {
		return question, err
	}
	if inside.Status != checks.Passed {
		free := gate
		free.Checks.Sandbox = config.NoSandbox
		switch outside, err := r.try(ctx, snap, free); {
		case err != nil:
			return question, err
		case outside.Status == checks.Passed:
			return unfit(r.place.Branch, name, inside, r.place.Path(trialLog)), nil
		}
	}
	if len(known) > maxTrials/2 {
		return question, root.WriteFile(trialsFile, []byte(digest), 0o600)
	}
	return question, atomicfile.Append(root, trialsFile, []byte(digest), 0o600) // other conductors add theirs at the same time
}

// try runs the checks of a gate, in their sandbox if it has one.
func (r *Runner) try(ctx context.Context, snap store.Snapshot, gate config.Gate) (checks.Result, error) {
	on := Target{Task: snap.Task.TaskID, Base: snap.Task.SetUpOn(), Trial: true}
	at, err := r.Prepare(ctx, snap, gate, on)
	if err != nil {
		return checks.Result{}, Trouble(err)
	}
	defer at.Release()
	spec, err := r.Spec(snap, gate, trialLog, on)
	if err != nil {
		return checks.Result{}, err
	}
	res, err := r.Run(ctx, at.On(spec))
	return at.Result(res), err
}

// unfit is the question about checks that pass outside of their sandbox alone.
func unfit(branch, sandbox string, inside checks.Result, log string) Question {
	return Question{fmt.Sprintf("The checks fail in their sandbox (%s) and pass without it. No agent was started, and no retry was used.\n", sandbox) + reason(inside) +
		refusal.OnBranch(branch, "\nThe whole output: %s\n\nWhat do they need? Change [checks] in %s:\n\n"+
			"  network = true       they use the network, or a database on this machine\n"+
			"  read = [\"/a/path\"]   they read files outside of the project\n"+
			"  sandbox = \"off\"      they need no sandbox; set sandbox = \"off\" under [hq.executor] too\n\n"+
			"Then run ferrus config accept{branch}, and answer: any answer tries again. docs/sandbox.md says what they reach.",
			log, config.FileName), checks.Output(inside.Failures())}
}
