package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

func checkBranches(p *Context) Finding {
	if p.Place.Branch != "" {
		return Finding{} // the project's own checkination is of all
	}
	if gone := goneBranches(p); len(gone) > 0 {
		return Bad("the state of branch "+strings.Join(gone, ", ")+" is gone (git clean -fdx?); its work tree and the hard-linked copy of its journal exist",
			"ferrus doctor{branch} --fix restores it")
	}
	names, err := project.Branches(p.Place.Root)
	if err != nil {
		return Bad(err.Error(), "check that the folder can be read")
	}
	here := 0
	for _, name := range names {
		on := project.At(p.Place.Root, name)
		if _, err := os.Stat(on.Work); err == nil {
			here++
		} else if !p.shared() {
			return Bad("the work tree of the branch "+name+" is gone", refusal.Say("ferrus branch --remove %s --force; its saved files stay under refs/ferrus", name))
		}
	}
	for _, name := range names {
		if f := checkCopies(p, name); f.Text != "" {
			return f
		}
	}
	folders, _ := project.Folders(p.Path("branches"))
	for _, folder := range folders {
		if state.CheckBranch(folder) == nil && project.At(p.Place.Root, folder).Left() {
			return Noted("another computer has removed the branch "+folder+", and this one still has its files", refusal.Say("ferrus branch --remove %s moves them to the archive", folder))
		}
		hidden, draft := strings.CutPrefix(folder, ".")
		name, ok := strings.CutSuffix(hidden, ".new")
		if !draft || !ok {
			continue
		}
		return Noted("the creation of the branch "+name+" was interrupted, or still runs", refusal.Say("ferrus branch %s deletes it and creates it again", name))
	}
	if len(names) == 0 {
		return Finding{}
	}
	if here < len(names) {
		return Fine(fmt.Sprintf("%s, %d with the work tree on this computer", format.Count(len(names), "branch", "branches"), here))
	}
	return Fine(fmt.Sprintf("%s, each with its work tree", format.Count(len(names), "branch", "branches")))
}

// checkCopies compares the journal of a branch with its hard-linked copy, where that is missing or another file.
func checkCopies(p *Context, name string) Finding {
	if p.shared() {
		return Finding{}
	}
	on := project.At(p.Place.Root, name)
	record, err := trust.Open(p.Place.Root)
	backup := on.Backup()
	if err != nil || backup == "" || sameFile(filepath.Join(on.Dir(), "journal.jsonl"), backup) {
		return Finding{}
	}
	c, err := project.Copies(on, record)
	if err != nil {
		return Finding{}
	}
	if c.Plan(false).Err != nil {
		return Bad("the journal of the branch "+name+" and its hard-linked copy differ, and it is not known which one is right", refusal.Say("ferrus doctor --branch %s shows more", name))
	}
	return Bad("the journal of the branch "+name+" and its hard-linked copy are not the same file", "ferrus doctor{branch} --fix replaces both with the valid one")
}

func sameFile(a, b string) bool {
	here, errA := os.Lstat(a)
	there, errB := os.Lstat(b)
	return errA == nil && errB == nil && os.SameFile(here, there)
}

// checkGitLocks finds locks of git that no process holds and that keep ferrus from writing to git.
func checkGitLocks(p *Context) Finding {
	stale, err := worktree.StaleLocks(p.Ctx, p.Place.Root, time.Now())
	switch {
	case err != nil:
		return Bad("the locks of git cannot be listed: "+err.Error(), "check that git status works here")
	case len(stale) > 0:
		return Bad(fmt.Sprintf("%s of a git process that was killed, such as %s: what it locks cannot change", format.Count(len(stale), "lock", "locks"), stale[0]),
			refusal.Say("if no git is running, ferrus doctor{branch} --fix moves them to %s", p.Path("logs")))
	}
	return Finding{}
}

func fixGitLocks(p *Context) (string, error) {
	stale, err := worktree.StaleLocks(p.Ctx, p.Place.Root, time.Now())
	if err != nil || len(stale) == 0 {
		return "", err
	}
	logs := p.Path("logs")
	if info, err := os.Lstat(logs); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", logs)
	}
	for _, lock := range stale {
		if _, err := worktree.SetAside(lock, logs, time.Now()); err != nil {
			return "", err
		}
	}
	return "moved " + format.Count(len(stale), "lock", "locks") + " to " + logs, nil
}

// goneBranches are branches that have a work tree and a copy of the journal, but no state.
func goneBranches(p *Context) (gone []string) {
	trees, err := project.Folders(p.Path("worktrees"))
	if err != nil {
		return nil
	}
	for _, name := range trees {
		on := project.At(p.Place.Root, name)
		if state.CheckBranch(name) == nil && !on.Initialised() && rootfs.Exists(on.Backup()) {
			gone = append(gone, name)
		}
	}
	return gone
}

func fixBranches(p *Context) (string, error) {
	record, err := trust.Open(p.Place.Root)
	if err != nil {
		return "", err
	}
	var did []string
	if gone := goneBranches(p); len(gone) > 0 {
		for _, name := range gone {
			if _, err := project.Revive(project.At(p.Place.Root, name), record); err != nil {
				return "", err
			}
		}
		did = append(did, strings.Join(gone, ", ")+" was restored, with its generated files")
	}
	names, err := project.Branches(p.Place.Root)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if checkCopies(p, name).Text == "" {
			continue
		}
		if _, err := project.Reconcile(p.Ctx, project.At(p.Place.Root, name), record, false); err != nil {
			return "", err
		}
		did = append(did, "the journal of "+name+" and its hard-linked copy are the same file")
	}
	return strings.Join(did, "; "), nil
}
