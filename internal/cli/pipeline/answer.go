package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/document"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Answer answers an open question of a worker of a run; an id of "" is the only one. Then it continues the run, if nothing advances it
// and the person wants that.
func Answer(a *cli.App, ctx context.Context, name, id string, from cli.Source, words []string) error {
	at, f, err := askedOf(a, ctx, pipeline.Answer, name)
	if err != nil {
		return err
	}
	text, err := a.Text(from, words)
	if err == nil {
		err = document.Check("the answer", text, store.MaxDoc)
	}
	if err != nil {
		return cli.CannotDo("answer", "", err)
	}
	q, err := f.Answer(ctx, id, "human", time.Now(), func(q pipeline.Question) (string, error) { return document.Choose(q.ID, q.Text, text) })
	switch {
	case errors.Is(err, run.ErrNotOpen), errors.Is(err, run.ErrGone):
		return notOpen(at, f, id)
	case err != nil:
		return cli.CannotDo("answer", "", err)
	}
	l, err := status.ReadRun(at, f, time.Now())
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(map[string]any{"run": f.Name(), "id": q.ID, "answer": q.Answer})
	} else {
		a.Say("%s of %s answered: %s\n", q.ID, q.Role, format.Clip(format.Line(q.Answer), 100))
		a.Say("  the run waits %s\n", l.WaitText(time.Now()))
	}
	if err != nil || f.Leader() != 0 || l.View.Action.Person || a.Via != "" || !a.AgreesToContinue() {
		return err
	}
	return conductRun(a, ctx, at, f, pipeline.Resume)
}

// notOpen says that there is no such question to answer.
func notOpen(at run.Place, f *run.Folder, id string) error {
	what, remedy := "no question of "+f.Name()+" is open", refusal.Say("ferrus questions lists the open ones")
	if l, err := status.ReadRun(at, f, time.Now()); err == nil && len(l.Questions) > 0 {
		what = fmt.Sprintf("%s of %s is not open", id, f.Name())
		var ids []string
		for _, q := range l.Questions {
			ids = append(ids, q.ID)
		}
		if remedy = refusal.Say("the open question is %s", ids[0]); len(ids) > 1 {
			remedy = refusal.Say("name one of %s", strings.Join(ids, ", "))
		}
		if id == "" {
			what = fmt.Sprintf("%d questions of %s are open", len(ids), f.Name())
		}
	}
	return cli.Refuse(refusal.WrongState, what, remedy)
}
