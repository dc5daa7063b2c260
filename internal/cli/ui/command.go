// Package ui has the commands with which a person looks at a project: ferrus ui, the screen with its plain form and the source from
// which both read, and ferrus web, the page for a browser.
//
// Package internal/ui shows; here a command is made of it: who may open it, at which terminal or address. Start reading at command.go
// and web.go.
package ui

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/ui/terminal"
)

// UICommand is ferrus ui.
func UICommand(a *cli.App) *cobra.Command {
	var plain, screen, all bool
	cmd := &cobra.Command{
		Use:   "ui [--all] [--plain]",
		Short: "Show all work on one screen, and act on it",
		Long: `Shows what needs you, what is at work, what waits and what is done, in this
terminal. The selected item is shown beside the list: its overview, diff,
journal, agents and checks. The last line has the keys that work now, ? all. A
run that you start here goes on when the screen is closed. --plain goes line by
line, for screen readers. --all shows one inbox of all projects that you have
agreed to. "ferrus" alone opens the screen in a terminal inside a project.`,
		Example: `  ferrus ui
  ferrus ui --all
  ferrus ui --plain
  NO_COLOR=1 ferrus ui`,
		Annotations: cli.Reference(allNote, ""),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case a.JSON:
				return cli.UsageError("ferrus status --all --json", "a screen is for people, and --json for programs")
			case plain:
				return showPlain(a, cmd.Context(), all)
			case screen:
				return showScreen(a, cmd.Context(), all)
			}
			return guard(a, cmd.Context(), all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show all projects that you have agreed to")
	cmd.Flags().BoolVar(&plain, "plain", false, "go line by line, for screen readers")
	cmd.Flags().BoolVar(&screen, screenFlag, false, "be the process that the other one guards")
	_ = cmd.Flags().MarkHidden(screenFlag)
	return cmd
}

// Opens reports whether ferrus without a command opens the screen: both ends are a terminal that can draw, a project is
// there, and no agent calls.
func Opens(a *cli.App, ctx context.Context) bool {
	return a.InTTY && a.OutTTY && !a.JSON && !dumb() && os.Getenv("FERRUS_AGENT") == "" && InProject(a, ctx)
}

// InProject reports whether a project is there.
func InProject(a *cli.App, ctx context.Context) bool {
	dir, err := a.WorkingDir()
	if err == nil {
		_, err = project.Find(ctx, dir)
	}
	return err == nil
}

// Open opens the screen as ferrus ui does.
func Open(a *cli.App, ctx context.Context) error { return guard(a, ctx, false) }

func dumb() bool { term := os.Getenv("TERM"); return term == "" || term == "dumb" }

// check refuses to show a screen where none can be, or to whom none is shown.
func check(a *cli.App) error {
	switch {
	case !a.InTTY || !a.OutTTY:
		return cli.Refuse(refusal.InvalidInput, "ferrus ui needs a terminal for its input and its output",
			"ferrus status{branch} --watch shows every change as text; ferrus ui --plain goes line by line")
	case dumb():
		return cli.Refuse(refusal.InvalidInput, "this terminal cannot draw a screen (TERM is "+os.Getenv("TERM")+")",
			"ferrus status{branch} --watch shows every change as text; ferrus ui --plain goes line by line")
	}
	return a.RefuseAgent("ui")
}

// source opens the project for a screen.
func source(a *cli.App, ctx context.Context) (*reader, string, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return nil, "", err
	}
	return newReader(a, place.Root), filepath.Base(place.Root), nil
}

func showPlain(a *cli.App, ctx context.Context, all bool) error {
	if err := a.RefuseAgent("ui"); err != nil {
		return err
	}
	if all {
		g := newDoorkeeper(a, "ui --all")
		if err := g.start(); err != nil {
			return err
		}
		return terminal.PlainInbox(ctx, newProjects(ctx, g), a.In, a.Out)
	}
	src, title, err := source(a, ctx)
	if err != nil {
		return err
	}
	return terminal.Plain(ctx, src, title, a.In, a.Out)
}

func showScreen(a *cli.App, ctx context.Context, all bool) error {
	if err := check(a); err != nil {
		return err
	}
	ctx, stop := endWithGuard(ctx)
	defer stop()
	in, out := a.Terminal()
	on := terminal.Terminal{In: in, Out: out, Environ: os.Environ(), Edit: editIn(a, in, out)}
	var err error
	if g := newDoorkeeper(a, "ui --all"); !all {
		err = showProject(a, ctx, on)
	} else if err = g.start(); err == nil {
		err = terminal.RunInbox(ctx, terminal.NewInbox(newProjects(ctx, g)), on)
	}
	if ctx.Err() != nil {
		return cli.ExitWith(cli.ExitOfSignal(ctx))
	}
	return err
}

func showProject(a *cli.App, ctx context.Context, on terminal.Terminal) error {
	src, title, err := source(a, ctx)
	if err != nil {
		return err
	}
	screen := terminal.New(src, title)
	if a.Branch != "" {
		screen.Choose(a.Branch)
	}
	return terminal.Run(ctx, screen, on)
}
