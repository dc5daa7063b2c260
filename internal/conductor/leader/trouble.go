package leader

import (
	"context"
	"strings"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// A Trouble says why a node does not work on a task.
type Trouble = postgres.Trouble

// maxTrouble bounds the text of a trouble, in bytes.
const maxTrouble = 2 << 10

// NoteTrouble records for the session of a node why it does not work on the task of a branch or of the queue, for people on all computers; nil says that this is
// over. m is the project's own machine; for one in files nothing is recorded.
func NoteTrouble(ctx context.Context, m store.Machine, session, name string, why error) error {
	s, ok := m.(*postgres.Store)
	if !ok {
		return nil
	}
	text := ""
	if why != nil {
		text = strings.ReplaceAll(why.Error(), "\x00", "") // PostgreSQL takes neither this nor half a character
		text = strings.ToValidUTF8(text[:min(len(text), maxTrouble)], "")
	}
	return s.NoteTrouble(ctx, session, name, text)
}

// Troubles returns why nodes do not work on the task of a machine, if nobody does; none for a machine in files, and where the database does not answer.
func Troubles(ctx context.Context, m store.Machine) []Trouble {
	s, ok := m.(*postgres.Store)
	if !ok {
		return nil
	}
	list, err := s.Troubles(ctx)
	if err != nil {
		return nil
	}
	return list
}
