package doctor

import (
	"fmt"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// copies are the journal and its hard-linked copy; nil where there is no folder to look into.
func (p *Context) copies() *file.Copies {
	if p.shared() {
		return nil
	}
	if p.both == nil {
		trusted, err := trust.Open(p.Place.Root)
		if err != nil {
			return nil
		}
		c, err := project.Copies(p.Place, trusted)
		if err != nil {
			return nil
		}
		p.both = &c
	}
	return p.both
}

func checkJournal(p *Context) Finding {
	if p.Place.Forgotten() {
		return Finding{} // reported by the check of the folder
	}
	c := p.copies()
	if c != nil && c.Here.Kind != file.OlderCopy && c.Here.Kind != file.ForeignCopy { // of these the check of the origin tells
		plan := c.Plan(false)
		switch {
		case plan.Err != nil:
			return undecided(p, c, plan.Err)
		case plan.Added > 0:
			return replaceable(c, fmt.Sprintf("; its hard-linked copy is valid, and %s that follow are left in the damaged one", format.Count(plan.Added, "event", "events")))
		case plan.Winner == &c.There && c.Here.Kind != file.MissingCopy:
			return replaceable(c, fmt.Sprintf("; its hard-linked copy is valid, with %s", format.Count(c.There.Lines, "event", "events")))
		}
	}
	if p.absent() {
		if rootfs.Exists(p.backup) && (c == nil || c.There.Kind == file.ValidCopy || c.There.Kind == file.EmptyCopy) {
			return Bad("journal.jsonl is missing, and its hard-linked copy exists", "ferrus doctor{branch} --fix restores it")
		}
		return Bad("journal.jsonl is missing, and it has no hard-linked copy",
			refusal.Say("restore it from a backup; or move %s away and run ferrus init", p.Place.Dir()))
	}
	j := p.journal()
	switch {
	case refusal.CodeOf(j.err) == refusal.Corrupt && p.shared():
		f := Bad(plain(j.err)+", after "+format.Count(j.lines, "event", "events")+" that are valid", "nothing was changed: restore the database from a backup")
		f.Corrupt = true
		return f
	case refusal.CodeOf(j.err) == refusal.Corrupt:
		copied := "There is no other copy"
		if c != nil && c.Same {
			copied = "Its hard-linked copy is the same file and cannot help"
		}
		f := Bad(plain(j.err)+", after "+format.Count(j.lines, "event", "events")+" that are valid",
			refusal.Say("nothing was changed. %s. Restore journal.jsonl from a backup, or move it away and start again: %s", copied, aside(p)))
		f.Corrupt = true
		return f
	case j.err != nil:
		return troubled(j.err)
	case c != nil && c.Short(j.end()) > 0 && j.lines == 0 && j.size > 0:
		f := Bad("its end is missing: only a part of its first line is left",
			refusal.Say("no copy has the missing part. Restore journal.jsonl from a backup, or move it away and start again: %s", aside(p)))
		f.Corrupt = true
		return f
	case c != nil && c.Short(j.end()) > 0:
		f := Bad(fmt.Sprintf("its end is missing: it has %s, and STATE.json was made from a later one", format.Count(j.lines, "event", "events")),
			refusal.Say("no copy has the missing part. Restore journal.jsonl from a backup, or continue from event %d: ferrus doctor{branch} --adopt", j.lines))
		f.Corrupt = true
		return f
	case j.size > j.end() && !p.Place.InDatabase():
		return Bad(fmt.Sprintf("%d bytes after the last complete line, from a crash", j.size-j.end()),
			"the next command, or ferrus doctor{branch} --fix, removes them; a copy stays in logs/")
	}
	return Fine(format.Count(j.lines, "event", "events") + ", every hash and link valid")
}

// replaceable is the finding of a journal that is to be replaced by its copy.
func replaceable(c *file.Copies, text string) Finding {
	was := string(c.Here.Kind)
	if c.Here.Kind == file.ValidCopy {
		was = "valid but shorter, with " + format.Count(c.Here.Lines, "event", "events")
	}
	if c.Here.Err != nil {
		was += " (" + plain(c.Here.Err) + ")"
	}
	f := Bad("journal.jsonl is "+was+text, "ferrus doctor{branch} --fix replaces both with the valid one and keeps the other")
	f.Corrupt = c.Here.Kind == file.DamagedCopy
	return f
}

// undecided is the finding of two copies of which only a person can say what becomes of them.
func undecided(p *Context, c *file.Copies, err error) Finding {
	remedy := refusal.Say("nothing was changed. Restore journal.jsonl from a backup, or move both away and start again: %s", aside(p))
	valid := func(of file.Copy) bool { return of.Kind == file.ValidCopy || of.Kind == file.OlderCopy }
	switch {
	case valid(c.Here):
		remedy = "nothing was changed. To continue from journal.jsonl and keep the other one: ferrus doctor{branch} --adopt"
	case valid(c.There):
		remedy = refusal.Say("nothing was changed. To continue from event %d of the valid one and keep the other: ferrus doctor{branch} --adopt", c.There.Last())
	}
	f := Bad(plain(err), remedy)
	f.Corrupt = true
	return f
}

// aside is how a person sets a machine aside whose journal is beyond help.
func aside(p *Context) string {
	// Beside the project: in the work tree it would be part of every diff.
	move := fmt.Sprintf("mv %s %s.ferrus-corrupt", p.Place.Dir(), p.Place.Root)
	if rootfs.Exists(p.backup) {
		move += fmt.Sprintf(" && mv %s %s.corrupt", p.backup, p.backup)
	}
	return move + " && ferrus init"
}

func fixJournal(p *Context) (string, error) {
	if p.shared() {
		return "", nil // a backup of the database helps
	}
	c := p.copies()
	if !p.adopt && (c == nil || c.Here.Kind == file.MissingCopy) {
		if !rootfs.Exists(p.backup) || c != nil && c.Plan(false).Err != nil {
			return "", nil
		}
		return restoreFolder(p)
	}
	j := p.journal()
	plan, short := file.Plan{}, false
	if c != nil {
		plan = c.Plan(p.adopt)
		short = plan.Winner == &c.Here && plan.Added == 0 && c.Short(j.end()) > 0
	}
	if !p.adopt && (short || plan.Err != nil) {
		return "", nil // a person has to say
	}
	did, err := p.reconcile()
	if err != nil {
		return "", err
	}
	p.Forget()
	if p.adopt {
		if err := p.adoptJournal(); err != nil {
			return "", err
		}
	}
	switch {
	case did.Restored:
		return reconciled(p, did), p.load()
	case short:
		return fmt.Sprintf("continued from event %d; the earlier STATE.json is in logs/", j.lines), p.load()
	case did.Linked:
		return reconciled(p, did), nil
	case j.err != nil || j.size == j.end():
		return "", nil
	}
	return "removed the incomplete line; its copy is in logs/", p.load()
}

// reconcile makes the journal and its hard-linked copy one file.
func (p *Context) reconcile() (file.Reconciled, error) {
	trusted, err := trust.Open(p.Place.Root)
	if err != nil {
		return file.Reconciled{}, err
	}
	return project.Reconcile(p.Ctx, p.Place, trusted, p.adopt)
}

// reconciled says what became of two copies.
func reconciled(p *Context, did file.Reconciled) string {
	said := "linked the journal in " + filepath.Dir(p.backup)
	if did.Restored {
		said = "put the valid copy of the journal in place"
	}
	if did.Added > 0 {
		said += fmt.Sprintf(", with %s of the other that follow", format.Count(did.Added, "event", "events"))
	}
	if did.Kept != "" {
		said += "; the other one is now " + did.Kept
	}
	return said
}

// load has the store load the machine under its lock, which makes again what is not as the journal says.
func (p *Context) load() error {
	e, err := p.Engine()
	if err == nil {
		_, err = e.Store().Apply(p.Ctx, func(store.Snapshot) (*store.Change, error) { return nil, nil })
	}
	return err
}

func checkSecondLink(p *Context) Finding {
	if p.backup == "" {
		return Noted("no git, so the journal has no hard-linked copy: a deleted .ferrus cannot be restored", "")
	}
	c := p.copies()
	switch {
	case c == nil || c.Here.Kind == file.MissingCopy:
		return Finding{}
	case c.Same:
		return Fine(p.backup)
	case c.There.Kind == file.MissingCopy:
		return Bad(p.backup+" is missing: git clean -fdx would lose the tasks", "ferrus doctor{branch} --fix links the journal")
	}
	if plan := c.Plan(false); plan.Err != nil || plan.Winner != &c.Here || plan.Added > 0 {
		return Finding{} // the check of the journal tells
	}
	return Bad(p.backup+" is not the same file as the journal", "ferrus doctor{branch} --fix moves it away and links the journal")
}

func fixSecondLink(p *Context) (string, error) {
	if p.backup == "" || p.absent() {
		return "", nil
	}
	if c := p.copies(); c == nil || c.Plan(p.adopt).Err != nil {
		return "", nil
	}
	did, err := p.reconcile()
	if err != nil || !did.Linked {
		return "", err
	}
	return reconciled(p, did), nil
}
