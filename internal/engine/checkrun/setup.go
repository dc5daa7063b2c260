package checkrun

import (
	"context"
	"errors"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// setUpClean runs the set-up in a checkout, before anything of an executor's is in it. The project is named to it: there it
// may copy what is in no commit.
func (r *Runner) setUpClean(ctx context.Context, gate config.Gate, s Site, on Target) error {
	log, lock, err := r.output("logs/"+on.Task+"-setup.log", on.kind().setup)
	if err != nil {
		return err
	}
	spec := s.On(SpecOf(gate, "", log, lock))
	spec.Commands, spec.Environ = []string{gate.Setup}, append(slices.Clone(s.env), "FERRUS_PROJECT="+r.place.Root)
	res, err := r.Run(ctx, spec)
	if err == nil && res.Status != checks.Passed {
		err = &SetUpError{&refusal.RefusedError{Code: refusal.StoreError, Message: "[branches] setup in the checkout of the gate: " + Verdict(res), Person: true,
			Output: checks.Output(res.Failures()), Remedy: refusal.Say("see %s and [branches] setup in ferrus.toml, then try again", spec.Log)}, res, spec.Log}
	}
	return err
}

// A SetUpError is why a checkout has no set-up.
type SetUpError struct {
	*refusal.RefusedError
	Result checks.Result // of the set-up
	Log    string        // the absolute path of its output
}

func (e *SetUpError) Unwrap() error { return e.RefusedError }

// NoPlace is the result of checks that have no place to run in. A set-up that failed is its failure.
func NoPlace(err error) checks.Result {
	res := checks.Result{Status: checks.GateError, Err: "the checkout of the gate cannot be made: " + err.Error()}
	if e := (*SetUpError)(nil); errors.As(err, &e) {
		res.Commands = e.Result.Failures()
	}
	return res
}
