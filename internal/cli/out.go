package cli

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Styled is text of ours that may hold escape sequences. Whatever else is printed is cleaned: agents wrote it.
type Styled string

// Colours, as SGR parameters.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Blue   = "34"
	purple = "35"
	Cyan   = "36"
)

// RoleColour is the colour of what a role did, in the log and in the status.
var RoleColour = map[state.Role]string{state.Supervisor: Cyan, state.Executor: Blue, state.Human: Green, state.Engine: Dim}

// StateColour is the colour of a state, "" for plain.
var StateColour = map[state.State]string{state.AwaitingHuman: Yellow, state.Reviewing: purple, state.Consultation: Cyan,
	state.Complete: Green, state.Failed: Red, state.Addressing: Yellow}

// Name is the name of a branch or of a run in a column: cut to the width on a terminal, and whole for a program that reads it. What is
// cut keeps its end, by which attempts at one task differ.
func (a *App) Name(name string, width int) string {
	const end = 4
	runes := []rune(name)
	if !a.OutTTY || len(runes) <= width || width <= 2*end {
		return name
	}
	return string(runes[:width-end-1]) + "…" + string(runes[len(runes)-end:])
}

// Names returns how each of these names stands in a column of their own: with spaces up to the longest of them, but at least to the
// width least. On a terminal the column has at most a fifth of the width, and a longer name is cut as by Name.
func (a *App) Names(least int, names []string) func(name string) string {
	wide := least
	for _, name := range names {
		wide = max(wide, format.Width(name))
	}
	if columns := a.Width(); columns > 0 {
		wide = min(wide, max(least, columns/5))
	}
	return func(name string) string {
		name = a.Name(name, wide)
		return name + strings.Repeat(" ", max(0, wide-format.Width(name)))
	}
}

// Paint colours a text, if stdout takes colours.
func (a *App) Paint(colour, text string) Styled {
	text = safetext.Mark(text)
	if !a.Colour || colour == "" || text == "" {
		return Styled(text)
	}
	return Styled("\x1b[" + colour + "m" + text + "\x1b[0m")
}

// Say prints for a person: text among the arguments is cleaned, unless it is ink. On a terminal a long line is wrapped so
// that its continuation is seen to be one.
func (a *App) Say(layout string, args ...any) {
	columns := a.Width()
	if columns == 0 {
		Fprintf(a.Out, layout, args...)
		return
	}
	var text strings.Builder
	Fprintf(&text, layout, args...)
	io.WriteString(a.Out, format.Wrap(text.String(), columns))
}

// Fprintf is fmt.Fprintf that removes control characters from every text among args, except from Styled ones.
func Fprintf(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case Styled:
		case error:
			args[i] = safetext.Mark(v.Error())
		case fmt.Stringer:
			args[i] = safetext.Mark(v.String())
		default:
			if text := reflect.ValueOf(arg); text.Kind() == reflect.String {
				args[i] = safetext.Mark(text.String())
			}
		}
	}
	fmt.Fprintf(w, format, args...)
}

// PrintJSON prints a result for a program, indented. It holds texts of agents exactly, but nothing that a terminal obeys.
func (a *App) PrintJSON(v any) error {
	return a.printJSON(v, "  ")
}

// PrintJSONLine prints one of many results for a program, on a line of its own.
func (a *App) PrintJSONLine(v any) error {
	return a.printJSON(v, "")
}

// RunColour is the colour of how a run stands, "" for plain.
var RunColour = map[pipeline.State]string{pipeline.IsPaused: Yellow, pipeline.IsFailed: Red, pipeline.IsDelivering: purple,
	pipeline.IsCompleted: Green, pipeline.IsCancelled: Yellow}

// PhaseColour is the colour of how far a phase or a worker is, "" for plain.
var PhaseColour = map[pipeline.Progress]string{pipeline.Pending: Dim, pipeline.Running: Blue, pipeline.Completed: Green, pipeline.Failed: Red,
	pipeline.Paused: Yellow}
