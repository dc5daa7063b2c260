package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// answerRun answers an open question of a worker of a run; an id of "" is the only one.
func answerRun(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	conf, err := s.Engine().Config()
	if err != nil {
		return ActResult{}, refusal.Config(err)
	}
	at := run.At(s.Engine().Place().Root, conf.Pipelines)
	f, err := OpenRun(at, r.Item)
	if err == nil {
		err = cmp.Or(MadeHere(ctx, at, f), NotArchived(at, f, f.Name()))
	}
	if err == nil {
		err = handover.CheckText("the answer", r.Text, store.MaxDoc)
	}
	if err != nil {
		return ActResult{}, err
	}
	q, err := f.Answer(ctx, r.ID, "human", time.Now(), func(q pipeline.Question) (string, error) { return handover.ChooseOption(q.ID, q.Text, r.Text) })
	l, unread := ReadRun(at, f, time.Now())
	switch {
	case errors.Is(err, run.ErrNotOpen), errors.Is(err, run.ErrGone):
		return ActResult{}, notOpen(l, f.Name(), r.ID)
	case err != nil || unread != nil:
		return ActResult{}, cmp.Or(err, unread)
	}
	return ActResult{Facts: map[string]any{"run": f.Name(), "id": q.ID, "answer": q.Answer},
		Lines: []string{fmt.Sprintf("%s of %s answered: %s", q.ID, q.Role, format.Clip(format.Line(q.Answer), 100)), "  the run waits " + l.WaitText(time.Now())}}, nil
}

// notOpen says that there is no such question to answer in a run. l is nil where it cannot be read.
func notOpen(l *RunStatus, name, id string) error {
	what, remedy := "no question of "+name+" is open", refusal.Say("ferrus questions lists the open ones")
	if l != nil && len(l.Questions) > 0 {
		what = fmt.Sprintf("%s of %s is not open", id, name)
		var ids []string
		for _, q := range l.Questions {
			ids = append(ids, q.ID)
		}
		if remedy = refusal.Say("the open question is %s", ids[0]); len(ids) > 1 {
			remedy = refusal.Say("name one of %s", strings.Join(ids, ", "))
		}
		if id == "" {
			what = fmt.Sprintf("%d questions of %s are open", len(ids), name)
		}
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: what, Remedy: remedy}
}

// OpenRun opens the run of a name, active or archived.
func OpenRun(at run.Place, name string) (*run.Folder, error) {
	f, err := at.Open(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	names, _ := at.Names()
	over, _ := at.Archived()
	slices.Reverse(over) // the newest may be meant
	return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("there is no run %q", name), Remedy: refusal.Say("active: %s; finished: %s",
		cmp.Or(strings.Join(names, ", "), "none"), cmp.Or(strings.Join(over[:min(len(over), 5)], ", "), "none"))}
}

// NotArchived refuses a run that is over. it is what the message calls the run.
func NotArchived(at run.Place, f *run.Folder, it string) error {
	if !Archived(at, f) {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: it + " is finished and archived",
		Remedy: refusal.Say("ferrus pipeline rerun %s takes it up again in a new folder", f.Name())}
}

// MadeHere refuses a run of which git tracks a file: it comes from a commit, and the commands that it was launched with
// were agreed to by nobody here. It asks git only where the index may list something of the run.
func MadeHere(ctx context.Context, at run.Place, f *run.Folder) error {
	name, err := filepath.Rel(at.Root, f.Dir)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	if !worktree.FindIndex(at.Root).MayTrack(f.Name()) {
		return nil
	}
	files, err := worktree.TrackedFiles(ctx, at.Root, name)
	switch {
	case err != nil:
		return refusal.Because(refusal.StoreError, "ask git what it tracks in "+name, err, "check the git repository, then try again")
	case len(files) > 0:
		return &refusal.RefusedError{Code: refusal.ForeignState, Message: fmt.Sprintf("git tracks %s of the run %s: it comes from a commit, not from this machine",
			safetext.Mark(files[0]), f.Name()), Remedy: refusal.Say("git rm -r --cached %s, if you created it; otherwise delete the folder", name)}
	}
	return nil
}
