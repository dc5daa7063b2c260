package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

func init() { parts["write"] = writeOn }

// writeOn makes events that the table allows, one after the other, of which many write documents, and says each.
func writeOn(s *Store) {
	in := bufio.NewReader(os.Stdin)
	name := strings.TrimSpace(must(in.ReadString('\n')))
	go func() { // nobody listens any more
		_, _ = io.Copy(io.Discard, in)
		os.Exit(0)
	}()
	for n := 0; ; n++ {
		token := fmt.Sprintf("%s-%d", name, n)
		snap, err := s.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) { return anything(now, token) })
		fmt.Println(monotonic(), snap.Task.Seq, token, code(err))
	}
}

// written are the documents of the events that have one.
var written = map[state.Event]state.Doc{state.CreateTask: state.TaskDoc, state.Submit: state.SubmissionDoc, state.Reject: state.ReviewDoc,
	state.Reopen: state.ReviewDoc, state.AskHuman: state.QuestionDoc, state.Answer: state.AnswerDoc, state.Consult: state.ConsultRequestDoc,
	state.RespondConsult: state.ConsultResponseDoc}

// anything is one of the events that somebody may raise now.
func anything(now store.Snapshot, token string) (*store.Change, error) {
	roles := state.Roles()
	rand.Shuffle(len(roles), func(i, j int) { roles[i], roles[j] = roles[j], roles[i] })
	for _, by := range roles {
		can := slices.DeleteFunc(state.Allowed(now.Task, by), func(ev state.Event) bool { return ev == state.Violation || ev == state.Rollback })
		if len(can) == 0 {
			continue
		}
		ev := can[rand.IntN(len(can))]
		var docs map[state.Doc]string
		if doc, ok := written[ev]; ok {
			docs = text(doc, token+"\n"+strings.Repeat("All work and no play. ", rand.IntN(1000)))
		}
		c, err := on(ev, by, docs)(now)
		if c != nil {
			c.Note = token
		}
		return c, err
	}
	return nil, errors.New("nobody can do anything")
}
