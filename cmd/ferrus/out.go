package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/ferrus-go/ferrus/internal/jsontime"
	"github.com/ferrus-go/ferrus/internal/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
)

// ink is text of ours that may hold escape sequences. Whatever else is printed is cleaned: agents wrote it.
type ink string

// Colours, as SGR parameters.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
	purple = "35"
	cyan   = "36"
)

// roleColour is the colour of what a role did, in the log and in the status.
var roleColour = map[state.Role]string{state.Supervisor: cyan, state.Executor: blue, state.Human: green, state.Engine: dim}

// stateColour is the colour of a state, "" for plain.
var stateColour = map[state.State]string{state.AwaitingHuman: yellow, state.Reviewing: purple, state.Consultation: cyan,
	state.Complete: green, state.Failed: red, state.Addressing: yellow}

// paint colours a text, if stdout takes colours.
func (a *app) paint(colour, text string) ink {
	text = safetext.Clean(text)
	if !a.colour || colour == "" || text == "" {
		return ink(text)
	}
	return ink("\x1b[" + colour + "m" + text + "\x1b[0m")
}

// say prints for a person: text among the arguments is cleaned, unless it is ink. On a terminal a long line is wrapped so
// that its continuation is seen to be one.
func (a *app) say(format string, args ...any) {
	columns := a.width()
	if columns == 0 {
		say(a.out, format, args...)
		return
	}
	var text strings.Builder
	say(&text, format, args...)
	io.WriteString(a.out, wrapped(text.String(), columns))
}

func say(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case ink:
		case error:
			args[i] = safetext.Clean(v.Error())
		case fmt.Stringer:
			args[i] = safetext.Clean(v.String())
		default:
			if text := reflect.ValueOf(arg); text.Kind() == reflect.String {
				args[i] = safetext.Clean(text.String())
			}
		}
	}
	fmt.Fprintf(w, format, args...)
}

// print prints a result for a program, indented. It holds texts of agents exactly, but nothing that a terminal obeys.
func (a *app) print(v any) error {
	text, err := asJSON(v, "  ")
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

// printLine prints one of many results for a program, on a line of its own.
func (a *app) printLine(v any) error {
	text, err := asJSON(v, "")
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

// asJSON is v as JSON with a newline; indent "" puts it on one line.
func asJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return safetext.EscapeJSON(jsontime.Rewrite(b.Bytes(), v)), nil
}

// indented puts every line of a text behind a margin, without an empty last one.
func indented(text, margin string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if lines[i] = margin + l; l == "" {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// line makes one line of a text, clean.
func line(text string) string { return safetext.Line(text) }

// head is the first lines of a text, at most n, and whether there are more.
func head(text string, n int) (string, bool) {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n"), false
	}
	return strings.Join(lines[:n], "\n"), true
}
