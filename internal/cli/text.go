package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Source is where a command takes its text from: its words, -m, or a file.
type Source struct {
	Message string
	file    string
}

// FileFlag adds -f.
func (s *Source) FileFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.file, "file", "f", "", "read the text from `FILE`, or from stdin for -")
}

// MessageFlag adds -m. usage is its line in the help.
func (s *Source) MessageFlag(cmd *cobra.Command, what string) {
	cmd.Flags().StringVarP(&s.Message, "message", "m", "", what)
}

// Text returns the text with marks for its hidden characters, and says if it had any; "" when there is none. One that is too long for a
// document is refused before it is read whole.
func (a *App) Text(s Source, words []string) (string, error) {
	text, err := a.given(s, words)
	if err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) || safetext.Blank(text) { // the last three are refused where they are no text
		return text, err
	}
	text, marks := safetext.Document(text)
	if marks > 0 {
		a.Qualify("hidden_characters", marks)
		Fprintf(a.Err, "%s of the text (escape sequences, invisible or bidirectional) became a mark such as <U+202E>\n",
			format.Count(marks, "hidden character", "hidden characters"))
	}
	return text, nil
}

// given is the text as it is given.
func (a *App) given(s Source, words []string) (string, error) {
	said := strings.Join(words, " ")
	if said == "" {
		said = s.Message
	}
	switch {
	case s.file == "" && said == "-" && len(words) == 1:
		return a.ReadText("-")
	case s.file == "":
		return said, nil
	case said != "":
		return "", UsageError("give the text in words or in a file, not both", "two texts: %q and the file %s", format.Clip(format.Line(said), 40), s.file)
	}
	return a.ReadText(s.file)
}

// PersonText opens the machine for an act of a person that is given a text, and then reads the text. The caller closes the
// engine of the session. verb and what are those of person and failed.
func (a *App) PersonText(ctx context.Context, verb, what string, from Source, words []string) (*engine.Session, string, error) {
	s, err := a.OpenAsPerson(ctx, verb)
	if err != nil {
		return nil, "", err
	}
	text, err := a.Text(from, words)
	if err != nil {
		s.Engine().Close()
		return nil, "", CannotDo(what, "", err)
	}
	return s, text, nil
}

// ReadText reads a file, or stdin for "-". A text that is too long for a document is refused before all of it is read.
func (a *App) ReadText(name string) (string, error) {
	from := a.In
	if name == "-" {
		name = "stdin"
		if a.InTTY {
			Fprintf(a.Err, "reading from the terminal; end with ctrl-D on a line of its own\n")
		}
	} else {
		f, err := os.Open(name)
		if err != nil {
			return "", Refuse(refusal.InvalidInput, err.Error(), "name a file that can be read")
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, store.MaxDoc+1))
	var path *os.PathError
	if errors.As(err, &path) {
		return "", Refuse(refusal.InvalidInput, err.Error(), "name a file that can be read")
	}
	if len(data) > store.MaxDoc {
		return "", Refuse(refusal.TooLarge, fmt.Sprintf("%s has more than %d bytes", name, store.MaxDoc),
			"shorten it, or write the rest to a file in the work tree and name its path")
	}
	return string(data), err
}

// TextGiven is whether the command was given a text at all, be it an empty one.
func TextGiven(cmd *cobra.Command, words []string) bool {
	return len(words) > 0 || cmd.Flags().Changed("message") || cmd.Flags().Changed("file")
}
