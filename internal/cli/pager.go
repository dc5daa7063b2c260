package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// usualPager shows what fits on the screen as it is, and the rest page by page: LESS says so.
const usualPager = "less"

// Paged runs show with its output in a pager, as git does: $PAGER, else less, where stdout is a terminal. JSON is not paged,
// and neither is anything in the shell of an agent, which turns no pages. PAGER=cat, or an empty one, turns it off.
func (a *App) Paged(ctx context.Context, show func() error) error {
	dir, err := a.WorkingDir()
	if err != nil {
		return err
	}
	project := proc.WorkTree(dir) // no program of the project shows it
	pager := a.pager(project)
	if pager == "" {
		return show()
	}
	env := proc.Outside(os.Environ(), project)
	if os.Getenv("LESS") == "" {
		env = append(env, "LESS=FRX")
	}
	cmd := proc.Shell(context.WithoutCancel(ctx), pager) // ctrl-C is the pager's: it stops a search
	cmd.Env, cmd.Stdout, cmd.Stderr = env, a.Out, a.Err
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(in.Close(), show())
	}
	out := a.Out
	a.Out = in
	err = show()
	a.Out = out
	_ = in.Close() // a pager that was left before the end has closed it
	_ = cmd.Wait() // how it ended says nothing about what was shown
	return err
}

// pager is the shell command that pages the output, "" for none.
func (a *App) pager(project string) string {
	if !a.OutTTY || a.JSON || os.Getenv("FERRUS_AGENT") != "" || os.Getenv("TERM") == "dumb" {
		return ""
	}
	if pager, set := os.LookupEnv("PAGER"); set {
		if pager = strings.TrimSpace(pager); pager == "cat" {
			return ""
		}
		return pager
	}
	if _, err := proc.LookPath(usualPager, os.Getenv("PATH"), project); err != nil {
		return ""
	}
	return usualPager
}
