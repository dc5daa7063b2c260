package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// restoredBackup opens the machine of a journal that is older than the one last seen here, if a person at a terminal says
// that it is a restored backup. Other strange state is the error.
func (a *App) restoredBackup(ctx context.Context, strange error) (*engine.Engine, error) {
	var f *project.ForeignError
	if !errors.As(strange, &f) || f.Why != project.OlderJournal || a.JSON || !a.InTTY || !a.ErrTTY {
		return nil, strange
	}
	Fprintf(a.Err, "%s\nUse it from here on? [y/N] ", format.Line(f.Message))
	if !a.Agrees(false) {
		return nil, strange
	}
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.AdoptJournal(place); err != nil {
		return nil, err
	}
	return a.OpenAt(place)
}

// Agrees reads the answer to a question that is on the screen, and reports whether it is yes. usual is what Enter alone means. ctrl-C
// and the end of the input mean no.
func (a *App) Agrees(usual bool) bool {
	line, entered := a.ReadLine()
	word := strings.ToLower(line)
	return entered && (word == "y" || word == "yes" || usual && word == "")
}

// ReadWord reads a line of stdin without the space around it. ctrl-C and the end of the input end the line.
func (a *App) ReadWord() string {
	word, _ := a.ReadLine()
	return word
}

// ReadLine reads a line of stdin without the space around it, byte by byte: what follows belongs to the command. It reports whether
// Enter has ended the line.
func (a *App) ReadLine() (line string, entered bool) {
	var text []byte
	for b := make([]byte, 1); len(text) < 1000; {
		n, err := a.In.Read(b)
		if n == 0 || err != nil {
			break
		}
		if entered = b[0] == '\n'; entered {
			break
		}
		text = append(text, b[0])
	}
	return strings.TrimSpace(string(text)), entered
}

// AdoptJournal records the journal as it stands as this machine's own.
func (a *App) AdoptJournal(place project.Place) error {
	e, err := a.OpenToReadAt(place)
	if err != nil {
		return err
	}
	defer e.Close()
	return e.Adopt()
}

// TrustError puts an error of the record into words.
func TrustError(err error) error {
	var mine *refusal.RefusedError
	if errors.As(err, &mine) {
		return Refuse(refusal.Untrusted, mine.Message, mine.Remedy)
	}
	return err
}
