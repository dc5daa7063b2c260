package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/hq"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A branching is how branches are asked for.
type branching struct {
	at            uint64
	copies        int
	task          string
	file          source
	remove, force bool
}

func branchCommand(a *app) *cobra.Command {
	var how branching
	cmd := &cobra.Command{
		Use:   "branch NAME [--at SEQ] [-n N] [--task TEXT | -f FILE]",
		Short: "Try the task another way, or another task beside it",
		Long: `Makes a branch: a machine like the project's own, with agents, checks, reviews and a log of its own, and with its own work
tree in .ferrus/worktrees/NAME, on the git branch ferrus/NAME. It goes on with the present task as it is, with the files as
they are; with --at as both were at that entry of ferrus log. With --task it gets a task of its own, and the files from
which the task under way began, or those there are when none is. The machine that it comes from goes on untouched. -n 3
makes NAME.1, NAME.2 and NAME.3: three attempts at the same, of which ferrus select takes one.

Every command takes --branch NAME, and knows the branch by itself in its work tree. ferrus branches shows them, ferrus run
--parallel sees them all through, ferrus merge brings approved work into the project. What git ignores is not in a new work
tree; [branches] setup in ferrus.toml is run there first.

--remove takes a branch away, with its work tree and its git branch. Its log stays in .ferrus/archive/branches, and its files
stay in git, under refs/ferrus.

With --json: branches[{branch work task_id state}], or removed kept.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			switch {
			case len(names) != 1:
				return usage("ferrus branch NAME; ferrus branches shows those there are", "say what the branch is called")
			case how.remove && (how.at != 0 || how.copies != 0 || how.task != ""):
				return usage("leave the others out", "--remove goes with --force alone")
			case how.force && !how.remove:
				return usage("leave it out", "--force is for --remove")
			case how.remove:
				return a.removeBranch(cmd.Context(), names[0], how.force)
			case how.copies < 0 || how.copies > 20:
				return usage("say -n 3", "%d branches", how.copies)
			}
			return a.makeBranches(cmd.Context(), names[0], how)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&how.at, "at", 0, "begin at the entry `SEQ` of ferrus log")
	flags.IntVarP(&how.copies, "copies", "n", 0, "make `N` of them: NAME.1, NAME.2 ...")
	flags.StringVar(&how.task, "task", "", "give it a task of its own: `TEXT`")
	how.file.fileFlag(cmd)
	flags.BoolVar(&how.remove, "remove", false, "take the branch away")
	flags.BoolVar(&how.force, "force", false, "with --remove: also when its task is under way, or approved and not merged")
	return cmd
}

// A grown is a branch that has been made.
type grown struct {
	Branch string      `json:"branch"`
	Work   string      `json:"work"`
	TaskID string      `json:"task_id"`
	State  state.State `json:"state"`
}

func (a *app) makeBranches(ctx context.Context, name string, how branching) error {
	s, text, err := a.personText(ctx, "branch", "make the branch", how.file, wordsOf(how.task))
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	if err := a.agreed(s.Engine(), s.Engine().Trusted); err != nil {
		return failed("make the branch", "", err)
	}
	fork := engine.Fork{Names: []string{name}, At: how.at, Own: text != ""}
	if how.copies > 0 {
		fork.Names = nil
		for n := range how.copies {
			fork.Names = append(fork.Names, fmt.Sprintf("%s.%d", name, n+1))
		}
	}
	made, err := s.Branch(ctx, fork)
	if err != nil && len(made) == 0 {
		return failed("make the branch", "", err)
	}
	list := make([]grown, len(made))
	for i, place := range made {
		t, wrong := a.settle(ctx, place, text)
		if wrong != nil {
			return failed("settle in the branch "+place.Branch, "", wrong)
		}
		list[i] = grown{place.Branch, place.Work, t.TaskID, t.State}
	}
	if a.json {
		if wrong := a.print(map[string]any{"branches": list}); wrong != nil {
			return wrong
		}
		return err
	}
	for _, b := range list {
		a.say("%-14s %s  %s\n", b.Branch, a.paint(stateOr(b.State), padded(string(b.State), 13)), a.relative(b.Work))
	}
	if err != nil {
		return failed("make the others", "", err)
	}
	first := list[0].Branch
	a.next([]step{{"ferrus run --parallel " + fmt.Sprint(max(2, len(list))), "sees the branches through"},
		{"ferrus resume --branch " + first, "goes on with this one"}, {"ferrus branches", "compares them"}})
	return nil
}

// wordsOf is the text of a flag as words of the command line.
func wordsOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// settle gives a new branch its task, if it has one of its own.
func (a *app) settle(ctx context.Context, place engine.Place, text string) (state.Task, error) {
	e, err := a.openAt(place)
	if err != nil {
		return state.Task{}, err
	}
	defer e.Close()
	if text == "" {
		now, err := e.View()
		return now.Task, err
	}
	done, err := a.sessionOn(e).CreateTask(ctx, text, "")
	return done.Task, err
}

func (a *app) removeBranch(ctx context.Context, name string, force bool) error {
	s, err := a.project(ctx, "branch --remove")
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	kept, err := a.retire(ctx, s, name, force)
	if err != nil {
		return failed("remove "+name, "", err)
	}
	if a.json {
		return a.print(map[string]any{"removed": name, "kept": kept})
	}
	a.say("%s is removed; its log is in .ferrus/archive/branches/%s, its files are in refs/ferrus/%s\n", name, kept, kept)
	return nil
}

// retire removes a branch on which nobody is at work, with force one on which somebody is, too.
func (a *app) retire(ctx context.Context, s *engine.Session, name string, force bool) (kept string, err error) {
	on, err := s.Engine().Place().On(name)
	if err != nil {
		return "", err
	}
	e, err := a.openAt(on)
	if err != nil {
		return "", err
	}
	defer e.Close()
	if other, busy := hq.Conductor(e.Store().Path()); busy {
		return "", a.busy(&hq.BusyError{Holder: other})
	}
	now, err := e.View()
	if err != nil {
		return "", err
	}
	if force || !now.Task.Underway() {
		if err := hq.EndAll(ctx, e); err != nil {
			return "", err
		}
	}
	return s.Remove(ctx, name, force)
}

// project opens the project's own machine for an act of a person, wherever the command was called.
func (a *app) project(ctx context.Context, verb string) (*engine.Session, error) {
	if err := a.refuseAgent(verb); err != nil {
		return nil, err
	}
	place, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	place = engine.At(place.Root, "")
	a.at = &place
	e, err := a.openAt(place)
	if err != nil {
		return nil, err
	}
	return a.sessionOn(e), nil
}
