package doctor

import (
	"errors"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// checkOrigin looks whether the state was made on this machine.
func checkOrigin(p *Context) Finding {
	trusted, err := trust.Open(p.Place.Root)
	if err != nil {
		return Finding{}
	}
	err = project.Foreign(p.Ctx, p.Place, trusted)
	var r *refusal.RefusedError
	switch {
	case brokenOurs(p, err):
		return Finding{} // reported by the check of the journal
	case errors.As(err, &r) && r.Code == refusal.ForeignState:
		f := Bad(r.Message, r.Remedy)
		if c := p.copies(); c != nil && c.Here.Kind == file.OlderCopy && c.There.Kind != file.ValidCopy {
			f.Remedy = refusal.Say("no copy has the newer lines. To continue from event %d: ferrus doctor{branch} --adopt", c.Here.Last())
		}
		f.Corrupt = true
		return f
	case err != nil:
		return Finding{} // reported by the check of the journal
	}
	record, found, err := trusted.Record()
	switch {
	case err != nil:
		return troubled(err)
	case !found || !record.Journal.Begun():
		return Fine("no record of the journal yet: it becomes yours when you run ferrus trust")
	}
	return Fine("the state was made on this machine")
}

// brokenOurs reports whether a journal is refused because a line of it was altered or cut off. It may be ours: a journal of
// another project has lines that follow each other.
func brokenOurs(p *Context, strange error) bool {
	var f *project.ForeignError
	c := p.copies()
	return errors.As(strange, &f) && f.Why == project.OtherJournal && c != nil && (c.Here.Kind == file.DamagedCopy || c.Here.Kind == file.EmptyCopy)
}

// fixOrigin sets strange state aside and restores ours, or adopts it where a person has said so.
func fixOrigin(p *Context) (string, error) {
	trusted, err := trust.Open(p.Place.Root)
	if err != nil {
		return "", err
	}
	var f *project.ForeignError
	if !errors.As(project.Foreign(p.Ctx, p.Place, trusted), &f) {
		return "", nil
	}
	if p.adopt && (f.Why == project.OtherJournal || f.Why == project.OlderJournal) {
		return "recorded the journal as yours", p.adoptJournal()
	}
	did, err := project.SetAside(p.Ctx, p.Place, trusted, f, time.Now())
	if err != nil {
		return did, err
	}
	p.Forget()
	if e, err := p.Engine(); err == nil && e.Foreign() == nil && !p.absent() {
		_, _ = e.Store().Apply(p.Ctx, func(store.Snapshot) (*store.Change, error) { return nil, nil }) // makes the views again
	}
	return did, nil
}
