package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

const (
	ExitOK        = 0
	ExitFailure   = 1
	ExitUsage     = 2
	ExitState     = 3
	exitForbidden = 4
	ExitTimeout   = 5
	ExitPerson    = 6
	ExitBusy      = 7
	ExitCorrupt   = 8
	ExitStopped   = proc.StoppedExit
	ExitCtrlC     = 130
	exitTerm      = 143
)

// An ExitCode is a code with which a command can end.
type ExitCode struct {
	Code  int
	Means string
}

// ExitCodes are all of them, in their order, as `ferrus help exit-codes` lists them.
var ExitCodes = []ExitCode{
	{ExitOK, "success"},
	{ExitFailure, "failure"},
	{ExitUsage, "wrong command line or wrong input"},
	{ExitState, "the state of the task does not allow it, or there is nothing to do"},
	{exitForbidden, "not allowed: an agent's shell, or a configuration that you do not trust"},
	{ExitTimeout, "time-out"},
	{ExitPerson, "waiting for you: a question, a conflict or a changed configuration"},
	{ExitBusy, "another process has the lock, or another run works on the task"},
	{ExitCorrupt, "the journal is damaged, or was not made on this machine"},
	{ExitStopped, "ended by ferrus stop, or by the time of --until"},
	{ExitCtrlC, "ended by ctrl-C"},
	{exitTerm, "ended by SIGTERM"},
}

// exits are the exit codes of refusals.
var exits = map[refusal.Code]int{
	refusal.WrongState:       ExitState,
	refusal.ForbiddenRole:    exitForbidden,
	refusal.NotClaimed:       ExitState,
	refusal.LeaseLost:        ExitState,
	refusal.StaleReview:      ExitFailure,
	refusal.CheckRunning:     ExitState,
	refusal.DelegatesRunning: ExitState,
	refusal.TreeChanged:      ExitFailure,
	refusal.Conflict:         ExitPerson,
	refusal.InvalidInput:     ExitUsage,
	refusal.TooLarge:         ExitUsage,
	refusal.LockBusy:         ExitBusy,
	refusal.StoreError:       ExitFailure,
	refusal.StoreGone:        ExitFailure,
	refusal.OutcomeUnknown:   ExitFailure,
	refusal.InternalTimeout:  ExitTimeout,
	refusal.Corrupt:          ExitCorrupt,
	refusal.NotInitialised:   ExitState,
	refusal.UnknownBranch:    ExitState,
	refusal.ConfigChanged:    ExitPerson,
	refusal.ForeignState:     ExitCorrupt,
	refusal.Untrusted:        exitForbidden,
}

// A Failure is an error as it is shown: as two lines to a person, as JSON to a program.
type Failure struct {
	Code    string      `json:"code"` // of the refusal, or usage, timeout, failure
	Message string      `json:"message"`
	Remedy  refusal.Own `json:"remedy,omitempty"`
	State   state.State `json:"state,omitempty"` // of the task, where that is why

	Digest string        `json:"digest,omitempty"` // of what nobody has agreed to, where that is why
	Values []trust.Value `json:"values,omitempty"`

	Conflicts []worktree.Conflict `json:"conflicts,omitempty"` // of a merge, where those are why
	Failures  []checks.Command    `json:"failures,omitempty"`  // of the checks on what comes of it, where those are why

	Output string     `json:"output,omitempty"` // the end of what a command of the project printed, where that is why
	Also   []*Failure `json:"also,omitempty"`   // what else stands in the way

	Exit   int  `json:"-"`
	Silent bool `json:"-"` // everything has been said already
}

// Error is the message alone.
func (f *Failure) Error() string { return f.Message }

// ExitOfSignal is the exit code of a command whose context has ended.
func ExitOfSignal(ctx context.Context) int {
	if sig := proc.Signalled(ctx); sig != nil {
		return sig.Exit
	}
	return ExitFailure
}

// Interrupted ends a command that shows changes until a signal comes, such as ctrl-C.
func (a *App) Interrupted(ctx context.Context) error {
	if a.OutTTY && !a.JSON {
		a.Say("\n") // the terminal has shown ^C
	}
	return ExitWith(ExitOfSignal(ctx))
}

// ExitWith ends a command that has said all itself, but not with success.
func ExitWith(exit int) error { return &Failure{Code: "failure", Exit: exit, Silent: true} }

// Refuse is a refusal of our own, before the engine is asked.
func Refuse(code refusal.Code, message string, remedy refusal.Own) error {
	return &refusal.RefusedError{Code: code, Message: message, Remedy: remedy}
}

// CobraError is an error that cobra found in the command line.
func CobraError(cmd *cobra.Command, err error) error {
	var mine *Failure
	if errors.As(err, &mine) {
		return err
	}
	text := err.Error()
	if m := regexp.MustCompile(`^unknown command "(.*)" for "[^"]*"`).FindStringSubmatch(text); m != nil {
		return NoCommand(cmd, m[1])
	}
	remedy := refusal.Say("%s --help shows its arguments and flags", cmd.CommandPath())
	if m := regexp.MustCompile(`^unknown (?:flag: -|shorthand flag: '.' in )-(\S+)$`).FindStringSubmatch(text); m != nil {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := format.Word(m[1], names); near != "" {
			remedy = refusal.Say("did you mean --%s? %s", near, remedy)
		}
	}
	return UsageError(remedy, "%s", safetext.Reword(text, flagFaults))
}

// EmptyFlag refuses a flag that is given without a value, as --branch "$NAME" is if the variable is not set: it must not mean what the
// command does without the flag. The text of -m may be empty.
func EmptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		switch of := f.Value.(type) {
		case pflag.SliceValue:
			values = of.GetSlice()
		default:
			if f.Value.Type() != "string" || f.Shorthand == "m" {
				return
			}
		}
		if err == nil && (len(values) == 0 || slices.Contains(values, "")) {
			what, _ := pflag.UnquoteUsage(f)
			err = UsageError("give it a value, or leave the flag out", "--%s is empty; it takes %s", f.Name, what)
		}
	})
	return err
}

// flagFaults are what cobra says of a wrong value of a flag, and what we say.
var flagFaults = [][2]string{
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: .*value out of range$`, "$2 takes a whole number, and $1 is too large"},
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: strconv.ParseU?[iI]nt: .*$`, "$2 takes a whole number, not $1"},
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: strconv.ParseBool: .*$`, "$2 takes true or false, not $1"},
	{`^invalid argument (".*") for "(?:-., )?(--[a-z-]+)" flag: time: .*$`, "$2 takes a duration such as 5s or 2m, not $1"},
}

// UsageError is a command line that cobra took and that makes no sense all the same.
func UsageError(remedy refusal.Own, format string, args ...any) error {
	return &Failure{Code: "usage", Message: fmt.Sprintf(format, args...), Remedy: remedy, Exit: ExitUsage}
}

// CannotDo says why an act did not happen. where tells where the task stands, with the branch in its commands, "" when that is not
// known or does not matter.
func CannotDo(what, where string, err error) error {
	var r *refusal.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	f := Explain(err)
	if r.Wrong != nil {
		f.Message = fmt.Sprintf("the task is %s, not %s", r.Wrong.State, strings.Join(StatesFor(r.Wrong.Event), " or "))
		if r.Wrong.Event == state.Release && r.Wrong.State != state.Idle {
			f.Message = "no agent has claimed the task"
		}
		f.Remedy, f.State = cmp.Or(refusal.Say("%s", where), f.Remedy), r.Wrong.State
	}
	f.Message = "cannot " + what + ": " + f.Message
	return f
}

// StatesFor are the states in which a person may raise an event.
func StatesFor(ev state.Event) []string {
	var in []string
	for _, s := range state.States() {
		if slices.Contains(state.Allowed(state.Task{State: s, ClaimedBy: "somebody"}, state.Human), ev) {
			in = append(in, string(s))
		}
	}
	if ev == state.Reset {
		return []string{"unfinished"}
	}
	return in
}

// Explain makes a failure of any error, with a remedy.
func Explain(err error) *Failure {
	f := plainly(err)
	if f.Remedy == "" && !f.Silent {
		f.Remedy = "ferrus status{branch} shows the task; ferrus doctor{branch} checks the project"
	}
	return f
}

// plainly makes a failure of any error, with the remedy that it names itself.
func plainly(err error) *Failure {
	var shown *Failure
	switch {
	case errors.As(err, &shown):
		return shown
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Code: "timeout", Message: err.Error(), Remedy: "run the command again", Exit: ExitTimeout}
	}
	if r := refusal.Of(err); r != nil {
		f := &Failure{Code: string(r.Code), Message: r.Message, Remedy: r.Remedy, Output: r.Output, Exit: ExitFailure}
		if exit, ok := exits[r.Code]; ok {
			f.Exit = exit
		}
		for _, also := range r.Also {
			f.Also = append(f.Also, plainly(also))
		}
		var u *agreement.UntrustedError
		if errors.As(err, &u) {
			f.Digest, f.Values = trust.Digest(u.Values), u.Values
		}
		var clash *branch.ConflictError
		if errors.As(err, &clash) {
			f.Conflicts, f.Failures = clash.Conflicts, clash.Failures
		}
		return f
	}
	return &Failure{Code: "failure", Message: err.Error(), Exit: ExitFailure}
}

// InterruptedError is the error of a command that a signal has ended. What its parts say of their own end is left out; what
// the engine refuses for another reason is not.
func (a *App) InterruptedError(sig *proc.SignalError, err error) *Failure {
	f := Explain(err)
	var r *refusal.RefusedError
	if !f.Silent && f.Code != codeInterrupted && (!errors.As(err, &r) || r.Code == refusal.StoreError) {
		f = &Failure{Code: codeInterrupted, Message: sig.Error(), Remedy: "run the command again"}
	}
	if !f.Silent && a.ErrTTY && !a.JSON && sig.Exit == ExitCtrlC {
		Fprintf(a.Err, "\n") // the terminal has shown ^C
	}
	ended := *f
	ended.Exit = sig.Exit
	return &ended
}

// codeInterrupted is the code of a failure by a signal.
const codeInterrupted = "interrupted"

// Fail shows an error and returns its exit code.
func (a *App) Fail(err error) int {
	f := Explain(err)
	if f.Silent {
		return f.Exit
	}
	if a.JSON || a.errorsJSON {
		if text, err := format.JSON(a.placed(f), ""); err == nil {
			_, _ = a.Err.Write(text)
		}
		return f.Exit
	}
	a.ShowFailure("", f)
	return f.Exit
}

// ShowFailure shows on stderr a failure, and what else stands in the way. where says of what, to stand before the message; "" for the command.
func (a *App) ShowFailure(where string, f *Failure) {
	for _, each := range append([]*Failure{f}, f.Also...) {
		Fprintf(a.Err, "ferrus: %s%s\n", where, each.Message)
		for _, v := range each.Values {
			Fprintf(a.Err, "%s", ValueText(v))
		}
		if each.Output != "" {
			Fprintf(a.Err, "%s\n", format.Frame(each.Output, "  "))
		}
		if each.Remedy != "" {
			Fprintf(a.Err, "%s\n", format.Indent(a.Remedy(each), "  "))
		}
	}
}

// placed is a failure with the branch in its remedies.
func (a *App) placed(f *Failure) *Failure {
	placed := *f
	placed.Remedy, placed.Also = refusal.Say("%s", a.Remedy(f)), nil
	for _, also := range f.Also {
		placed.Also = append(placed.Also, a.placed(also))
	}
	return &placed
}

// ConfigError is the error of a ferrus.toml that cannot be used.
func ConfigError(err error) error {
	return Refuse(refusal.InvalidInput, err.Error(), "ferrus config explain lists every key; ferrus config example prints a file with all of them")
}

// NoCommand refuses a word that is no command below parent.
func NoCommand(parent *cobra.Command, word string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	remedy := refusal.Say("%s --help lists the commands", parent.CommandPath())
	if near := format.Word(word, names); near != "" {
		remedy = refusal.Say("did you mean %s? %s", near, remedy)
	}
	return UsageError(remedy, "there is no command %q", strings.TrimPrefix(parent.CommandPath()+" "+word, "ferrus "))
}

// ValidConfig is ferrus.toml, of which a run takes no older version.
func ValidConfig(e *engine.Engine) (config.Config, error) {
	conf, err := e.Config()
	if err != nil {
		err = Refuse(refusal.InvalidInput, err.Error(), "fix ferrus.toml; ferrus config check{branch} validates it")
	}
	return conf, err
}
