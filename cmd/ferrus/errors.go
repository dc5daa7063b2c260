package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/proc"
	"github.com/ferrus-go/ferrus/internal/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/trust"
)

const (
	exitOK        = 0
	exitFailure   = 1
	exitUsage     = 2
	exitState     = 3
	exitForbidden = 4
	exitTimeout   = 5
	exitPerson    = 6
	exitBusy      = 7
	exitCorrupt   = 8
	exitStopped   = proc.StoppedExit
	exitCtrlC     = 130
)

// exits are the exit codes of refusals.
var exits = map[engine.Code]int{
	engine.WrongState:      exitState,
	engine.ForbiddenRole:   exitForbidden,
	engine.NotClaimed:      exitState,
	engine.LeaseLost:       exitState,
	engine.StaleReview:     exitFailure,
	engine.CheckRunning:    exitState,
	engine.TreeChanged:     exitFailure,
	engine.Conflict:        exitPerson,
	engine.InvalidInput:    exitUsage,
	engine.TooLarge:        exitUsage,
	engine.LockBusy:        exitBusy,
	engine.StoreError:      exitFailure,
	engine.StoreGone:       exitFailure,
	engine.OutcomeUnknown:  exitFailure,
	engine.InternalTimeout: exitTimeout,
	engine.Corrupt:         exitCorrupt,
	engine.NotInitialised:  exitState,
	engine.UnknownBranch:   exitState,
	engine.ConfigChanged:   exitPerson,
	engine.ForeignState:    exitCorrupt,
	engine.Untrusted:       exitForbidden,
}

// A failure is an error as it is shown: as two lines to a person, as JSON to a program.
type failure struct {
	Code    string      `json:"code"` // of the refusal, or usage, timeout, failure
	Message string      `json:"message"`
	Remedy  string      `json:"remedy,omitempty"`
	State   state.State `json:"state,omitempty"` // of the task, where that is why

	Digest string        `json:"digest,omitempty"` // of what nobody has agreed to, where that is why
	Values []trust.Value `json:"values,omitempty"`

	exit   int
	silent bool // everything has been said already
}

func (f *failure) Error() string { return f.Message }

// exitOfSignal is the exit code of a command whose context has ended.
func exitOfSignal(ctx context.Context) int {
	if sig := proc.Signalled(ctx); sig != nil {
		return sig.Exit
	}
	return exitFailure
}

// left ends a command that shows what happens until a signal comes: ctrl-C is how a person leaves it.
func (a *app) left(ctx context.Context) error {
	if a.outTTY && !a.json {
		a.say("\n") // the terminal has shown ^C
	}
	return unwell(exitOfSignal(ctx))
}

// unwell ends a command that has said all itself, but not with success.
func unwell(exit int) error { return &failure{Code: "failure", exit: exit, silent: true} }

// refuse is a refusal of our own, before the engine is asked.
func refuse(code engine.Code, message, remedy string) error {
	return &engine.Refusal{Code: code, Message: message, Remedy: remedy}
}

// misused is an error that cobra found in the command line.
func misused(cmd *cobra.Command, err error) error {
	var mine *failure
	if errors.As(err, &mine) {
		return err
	}
	text := err.Error()
	if m := regexp.MustCompile(`^unknown command "(.*)" for "[^"]*"`).FindStringSubmatch(text); m != nil {
		return noCommand(cmd, m[1])
	}
	return usage(cmd.CommandPath()+" --help shows its arguments and flags", "%s", safetext.Reword(text, flagFaults))
}

// flagFaults are what cobra says of a wrong value of a flag, and what we say.
var flagFaults = [][2]string{
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: .*value out of range$`, "$2 takes a whole number, and $1 is too large"},
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: strconv.ParseU?[iI]nt: .*$`, "$2 takes a whole number, not $1"},
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: strconv.ParseBool: .*$`, "$2 takes true or false, not $1"},
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: time: .*$`, "$2 takes a duration such as 5s or 2m, not $1"},
}

// usage is a command line that cobra took and that makes no sense all the same.
func usage(remedy, format string, args ...any) error {
	return &failure{Code: "usage", Message: fmt.Sprintf(format, args...), Remedy: remedy, exit: exitUsage}
}

// failed says why an act did not happen. where tells where the task stands, "" when that is not known or does not
// matter.
func failed(what, where string, err error) error {
	var r *engine.Refusal
	if !errors.As(err, &r) {
		return err
	}
	f := explain(err)
	if r.Wrong != nil {
		f.Message = fmt.Sprintf("the task is %s, not %s", r.Wrong.State, strings.Join(needed(r.Wrong.Event), " or "))
		if r.Wrong.Event == state.Release && r.Wrong.State != state.Idle {
			f.Message = "nobody holds the work"
		}
		f.Remedy, f.State = cmp.Or(where, f.Remedy), r.Wrong.State
	}
	f.Message = "cannot " + what + ": " + f.Message
	return f
}

// needed are the states in which a person may raise an event.
func needed(ev state.Event) []string {
	var in []string
	for _, s := range state.States() {
		if slices.Contains(state.Allowed(state.Task{State: s, ClaimedBy: "somebody"}, state.Human), ev) {
			in = append(in, string(s))
		}
	}
	if ev == state.Reset {
		return []string{"at work"}
	}
	return in
}

// explain makes a failure of any error, with a remedy.
func explain(err error) *failure {
	f := plainly(err)
	if f.Remedy == "" && !f.silent {
		f.Remedy = "ferrus status shows the task; ferrus doctor checks the project"
	}
	return f
}

// plainly makes a failure of any error, with the remedy that it names itself.
func plainly(err error) *failure {
	var shown *failure
	switch {
	case errors.As(err, &shown):
		return shown
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{Code: "timeout", Message: err.Error(), Remedy: "run the command again", exit: exitTimeout}
	}
	if r := engine.AsRefusal(err); r != nil {
		f := &failure{Code: string(r.Code), Message: r.Message, Remedy: r.Remedy, exit: exitFailure}
		if exit, ok := exits[r.Code]; ok {
			f.exit = exit
		}
		var u *engine.UntrustedError
		if errors.As(err, &u) {
			f.Digest, f.Values = trust.Digest(u.Values), u.Values
		}
		return f
	}
	return &failure{Code: "failure", Message: err.Error(), exit: exitFailure}
}

// interrupted is the error of a command that a signal has ended. What its parts say of their own end is left out; what
// the engine refuses for another reason is not.
func (a *app) interrupted(sig *proc.SignalError, err error) *failure {
	f := explain(err)
	var r *engine.Refusal
	if !f.silent && f.Code != codeInterrupted && (!errors.As(err, &r) || r.Code == engine.StoreError) {
		f = &failure{Code: codeInterrupted, Message: sig.Error(), Remedy: "run the command again"}
	}
	if !f.silent && a.errTTY && !a.json && sig.Exit == exitCtrlC {
		say(a.err, "\n") // the terminal has shown ^C
	}
	ended := *f
	ended.exit = sig.Exit
	return &ended
}

// codeInterrupted is the code of a failure by a signal.
const codeInterrupted = "interrupted"

// fail shows an error and returns its exit code.
func (a *app) fail(err error) int {
	f := explain(err)
	if f.silent {
		return f.exit
	}
	f.Remedy = a.commands(f.Remedy)
	if a.json {
		if text, err := asJSON(f, ""); err == nil {
			_, _ = a.err.Write(text)
		}
		return f.exit
	}
	say(a.err, "ferrus: %s\n", f.Message)
	for _, v := range f.Values {
		say(a.err, "%s", valueText(v))
	}
	if f.Remedy != "" {
		say(a.err, "%s\n", indented(f.Remedy, "  "))
	}
	return f.exit
}
