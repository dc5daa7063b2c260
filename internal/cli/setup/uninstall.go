package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/project/sharing"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// UninstallCommand is ferrus uninstall.
func UninstallCommand(a *cli.App) *cobra.Command {
	var yes, machine bool
	cmd := &cobra.Command{
		Use:   "uninstall [--yes | --machine]",
		Short: "Remove ferrus from the project, or from this machine",
		Long: `Removes .ferrus, ferrus.toml, all branches and what "ferrus register" wrote.
Your files and commits stay. It lists what it will remove and asks first;
without a terminal it needs --yes. While an agent works, it removes nothing.
With --machine it removes what lies outside of projects, such as your own
configuration. Uninstall each project first.`,
		Example: `  ferrus uninstall
  ferrus uninstall --yes
  ferrus uninstall --machine`,
		Annotations: cli.Reference(`All tasks and logs go, and so do the saved files under refs/ferrus, the line in
.gitignore and a service. Work of branches that is not merged is lost; the list
names it. If the state of the project is in a database, it stays there: other
computers may use it. Results of pipelines in folders outside .ferrus stay.`, "removed[{what about}] stays[]."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.RefuseAgent("uninstall"); err != nil {
				return err
			}
			if a.Branch != "" {
				return cli.UsageError("omit --branch", "the whole project is uninstalled; ferrus branch --remove NAME removes a branch")
			}
			if machine {
				return uninstall(a, cmd.Context(), yes, "this machine", "ferrus uninstall --machine --yes", leaveMachine, nil)
			}
			place, err := a.Place(cmd.Context())
			if err != nil {
				return err
			}
			return uninstall(a, cmd.Context(), yes, place.Root, "ferrus uninstall --yes", func() (*removal, error) { return leaveProject(cmd.Context(), place.Root) }, func() error { return sharing.Busy(place.Root) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&machine, "machine", false, "remove what lies outside of projects")
	return cmd
}

// A removal is what an uninstallation removes, in this order, and what it leaves.
type removal struct {
	Parts []part   `json:"removed"`
	Stays []string `json:"stays"`
}

// A part is one thing that is removed. A part that is gone already is no error, so that the same command finishes one that was cut off.
type part struct {
	What  string `json:"what"`
	About string `json:"about,omitempty"`

	remove func() error
}

func (r *removal) add(what, about string, remove func() error) {
	r.Parts = append(r.Parts, part{what, about, remove})
}

func (r *removal) stays(text string, args ...any) {
	r.Stays = append(r.Stays, fmt.Sprintf(text, args...))
}

// uninstall removes from a project or the machine what plan finds, if the person agrees; unasked is the command that does not ask. busy
// says why nothing may be removed now, nil for nothing.
func uninstall(a *cli.App, ctx context.Context, yes bool, from string, unasked refusal.Own, plan func() (*removal, error), busy func() error) error {
	if busy != nil {
		if err := busy(); err != nil {
			return err
		}
	}
	r, err := plan()
	if err != nil {
		return err
	}
	if !yes && len(r.Parts) > 0 {
		if !a.InTTY {
			return cli.UsageError(unasked, "stdin is not a terminal, so ferrus cannot ask whether to remove itself from %s", from)
		}
		r.show(a, "to remove")
		cli.Fprintf(a.Err, "Remove all of this from %s? [y/N] ", from)
		if !a.Agrees(false) {
			return cli.Refuse(refusal.WrongState, "not uninstalled: nothing was changed", "")
		}
		if busy != nil { // what has begun since
			if err := busy(); err != nil {
				return err
			}
		}
	}
	_, end := a.Working(ctx, "removing ferrus")
	defer end()
	for _, p := range r.Parts {
		if err := p.remove(); err != nil {
			return cli.Refuse(refusal.StoreError, fmt.Sprintf("remove %s: %v", p.What, rootfs.Cause(err)), "see to it that it can be removed; the same command removes the rest")
		}
	}
	end()
	if a.JSON {
		return a.PrintJSON(r)
	}
	if len(r.Parts) == 0 {
		a.Say("nothing to do: ferrus has nothing there\n")
	}
	r.show(a, "removed")
	return nil
}

// show lists the parts under a word, and what stays.
func (r *removal) show(a *cli.App, word string) {
	for _, p := range r.Parts {
		text := p.What
		if p.About != "" {
			text += "  " + p.About
		}
		a.ShowRow(word, text)
	}
	for _, text := range r.Stays {
		a.ShowRow("stays", text)
	}
}

// leaveProject finds what ferrus has made in the project at root. What finds the rest again goes last.
func leaveProject(ctx context.Context, root string) (*removal, error) {
	r := &removal{Parts: []part{}, Stays: []string{}}
	r.services(ctx, root)
	clients, err := ProjectOf(root)
	if err != nil {
		return nil, err
	}
	plan, err := clients.Plan(map[agents.Duty]register.Assignment{})
	if err != nil {
		return nil, err
	}
	if !plan.Idle() {
		var files []string
		for _, c := range plan.Changes {
			if c.Kind != register.Unchanged {
				files = append(files, c.File)
			}
		}
		r.add("the entries of the clients", strings.Join(files, ", "), plan.Write)
	}
	tree, err := project.Repository(ctx, root)
	if err != nil {
		return nil, err
	}
	places, err := r.branches(ctx, root)
	if err != nil {
		return nil, err
	}
	if tree.Git() {
		switch names, err := gc.Names(ctx, root); {
		case err != nil:
			r.stays("saved files under refs/ferrus: which are the project's is not known (%v)", err)
		case len(names) > 0:
			r.add(format.Count(len(names), "saved tree", "saved trees")+" under refs/ferrus", "", func() error {
				for _, name := range names {
					if _, err := tree.DeleteRefs(ctx, name); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	if dir, err := gc.CheckoutsDir(root); err == nil && rootfs.Exists(dir) {
		r.add(dir, "private checkouts of checks", func() error { return removeTree(dir) })
	}
	if rootfs.Exists(filepath.Join(root, config.FileName)) {
		r.add(config.FileName, "", func() error { return gone(os.Remove(filepath.Join(root, config.FileName))) })
	}
	if project.Ignores(root) {
		r.add("the line /.ferrus/ of .gitignore", "", func() error { return project.Unignore(root) })
	}
	var copies []string // folders, in one that is for all projects of the repository
	for _, p := range places {
		if copied := p.Backup(); copied != "" && rootfs.Exists(filepath.Dir(copied)) {
			copies = append(copies, filepath.Dir(copied))
		}
	}
	if len(copies) > 0 {
		r.add("the copies of the journals", "in "+filepath.Dir(copies[0]), func() error {
			for _, dir := range copies {
				if err := removeTree(dir); err != nil {
					return err
				}
			}
			_ = os.Remove(filepath.Dir(copies[0])) // if nothing else is in it
			return nil
		})
	}
	record, err := trust.Open(root)
	if err != nil {
		return nil, err
	}
	if path := record.Path(); path != "" && rootfs.Exists(path) {
		r.add(path, "what you agreed to here", record.Forget)
	}
	if dir := remindersDir(root); rootfs.Exists(dir) {
		r.add(dir, "how often hooks have reminded a session", func() error { return forgetReminders(root) })
	}
	if at, err := project.At(root, "").Shared(); err == nil && at != nil {
		r.stays("the project in the database %s, which other computers may use", at.URL)
	}
	home := filepath.Join(root, project.DirName)
	r.add(project.DirName, "all tasks and their logs", func() error { return removeTree(home) })
	return r, nil
}

// branches adds the branches that have files here, and returns the places of all machines.
func (r *removal) branches(ctx context.Context, root string) ([]project.Place, error) {
	places := []project.Place{project.At(root, "")}
	with, err := project.Folders(places[0].Path("worktrees"))
	if err != nil {
		return nil, refusal.Folder(err)
	}
	machines, err := project.Folders(places[0].Path("branches"))
	if err != nil {
		return nil, refusal.Folder(err)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(with, machines...)))) {
		if state.CheckBranch(name) != nil {
			continue
		}
		p := project.At(root, name)
		places = append(places, p)
		r.add("the branch "+name, work(p), func() error {
			if err := gone(confine.Of(p.Dir()).Drop()); err != nil {
				return err
			}
			tree, err := project.Repository(ctx, root)
			if err != nil {
				return err
			}
			return tree.Remove(ctx, p.WorkTree(), name)
		})
	}
	own := confine.Of(places[0].Dir())
	if own.Entered() {
		r.add("the sandbox of an executor that was killed", "", own.Drop)
	}
	return places, nil
}

// work says what of the work of a branch is lost with it.
func work(p project.Place) string {
	s, err := p.Open(project.StoreOptions{ReadOnly: true})
	if err != nil {
		return "its work tree and ferrus/" + p.Branch
	}
	defer s.Close()
	now, err := s.View()
	if t := now.Task; err == nil && t.TaskID != "" && t.Merged == "" {
		return "with work that is not merged: " + format.Clip(format.Line(t.Title), 60)
	}
	return "its work tree and ferrus/" + p.Branch
}

// gone is err, unless it says that there is nothing.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeTree removes a folder, also where folders in it lack the rights for that.
func removeTree(path string) error {
	root, err := rootfs.Open(filepath.Dir(path))
	if err != nil {
		return gone(err)
	}
	defer root.Close()
	return root.RemoveTree(filepath.Base(path))
}

// leaveMachine finds what ferrus has outside of projects.
func leaveMachine() (*removal, error) {
	r := &removal{Parts: []part{}, Stays: []string{}}
	all, err := trust.Projects()
	if err != nil {
		return nil, cli.TrustError(err)
	}
	var used []string
	for _, root := range all {
		if rootfs.Exists(filepath.Join(root, project.DirName)) {
			used = append(used, root)
		}
	}
	if len(used) > 0 {
		return nil, cli.Refuse(refusal.WrongState, "ferrus is in use in "+strings.Join(used, ", "), refusal.Say("uninstall it there first: ferrus -C %s uninstall", git.ShellQuoted(used[0])))
	}
	for _, of := range []struct {
		dir   func() (string, error)
		about string
	}{{trust.StateDir, "records of projects, and private checkouts"}, {trust.ConfigDir, "your own configuration"}} {
		dir, err := of.dir()
		if err != nil {
			return nil, cli.TrustError(err)
		}
		if rootfs.Exists(dir) {
			r.add(dir, of.about, func() error { return removeTree(dir) })
		}
	}
	if self, err := os.Executable(); err == nil {
		r.stays("the programs: %s", removesProgram(self))
	}
	return r, nil
}

// packaged are the ways in which ferrus is installed, by a part of the path of the program, and how each is undone.
var packaged = []struct{ part, command string }{
	{"/node_modules/", "npm uninstall -g ferrus"},
	{"/Caskroom/", "brew uninstall --cask ferrus"},
	{"/scoop/apps/", "scoop uninstall ferrus"},
	{"/usr/bin/", "by the package manager that installed them, such as apt remove ferrus"},
}

// removesProgram says how the program at a path is removed.
func removesProgram(self string) string {
	slashed := filepath.ToSlash(self)
	for _, p := range packaged {
		if strings.Contains(slashed, p.part) {
			return p.command
		}
	}
	return "rm " + git.ShellQuoted(self) + " " + git.ShellQuoted(filepath.Join(filepath.Dir(self), "ferrusd"))
}
