// Package doctor has ferrus doctor: the checks of a project, and what fixes each fault.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/format"
)

// Command is ferrus doctor.
func Command(a *cli.App) *cobra.Command {
	var fix, adopt bool
	cmd := &cobra.Command{
		Use:   "doctor [--fix | --adopt]",
		Short: "Check the project and fix what can be fixed",
		Long: `Checks the project, its files, the agents and git. It prints one line for each
check, problems last, with the command that helps. A note is not a problem.
Nothing is changed without --fix or --adopt. The exit code is 0 without
problems, 8 if the journal is damaged or was not made here, and 1 otherwise.`,
		Example: `  ferrus doctor
  ferrus doctor --fix
  ferrus doctor --adopt`,
		Annotations: cli.Reference(`With --fix, ferrus restores a lost .ferrus from the hard-linked copy of the
journal. It rewrites generated files and archives, and removes an incomplete
line at the end of the journal. It creates the copy of the journal again if it
is missing, and moves the files of upstream ferrus into the archive. Removed
files are kept in logs/ or archive/, except for locks of sessions that ended
long ago.

The journal and its copy should be one file. If they are two files, --fix
verifies every line of both and makes both the valid one. The other version is
kept. If neither is valid, or both are valid and differ, nothing is changed, and
ferrus says what you can do.

State that was not made on this machine, such as a journal from a git pull, is
moved to archive/foreign-*. Your journal is restored from its copy. --adopt does
what --fix does, and accepts a journal in .ferrus as yours. Use it after you
restored a backup, moved the project to another machine, or lost the end of the
journal.`, "[{check level text mend fixed}]. level is ok, note or trouble."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(a, cmd.Context(), fix || adopt, adopt) },
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "fix what can be fixed, and say what was done")
	cmd.Flags().BoolVar(&adopt, "adopt", false, "also accept a journal that was not made here as yours")
	return cmd
}

// A level is how bad a finding is.
type level string

const (
	well    level = "ok"
	note    level = "note" // worth knowing
	trouble level = "trouble"
)

// A finding is what an exam has shown. One without a text is not shown: there was nothing to look at.
type finding struct {
	Check string `json:"check"`
	Level level  `json:"level"`
	Text  string `json:"text"`
	Mend  string `json:"mend,omitempty"`  // what helps
	Fixed string `json:"fixed,omitempty"` // what was done about it

	corrupt bool
}

func fine(text string) finding        { return finding{Level: well, Text: text} }
func noted(text, mend string) finding { return finding{Level: note, Text: text, Mend: mend} }
func bad(text, mend string) finding   { return finding{Level: trouble, Text: text, Mend: mend} }

// An Check is one thing that the doctor looks at.
type Check struct {
	name string
	look func(*Context) finding
	mend func(*Context) (did string, err error) // nil where only a person can help
}

func runDoctor(a *cli.App, ctx context.Context, fix, adopt bool) error {
	if fix {
		if err := a.RefuseAgent("doctor --fix"); err != nil {
			return err
		}
	}
	place, err := a.Place(ctx)
	if err != nil && place.Root == "" {
		return err
	}
	p := &Context{Ctx: ctx, A: a, Place: place, backup: place.Backup(), adopt: adopt}
	defer p.Forget()
	var found []finding
	for _, x := range checks {
		f := p.examine(x, fix)
		f.Mend = a.Commands(f.Mend)
		if f.Text != "" {
			found = append(found, f)
		}
		if x.name == linksExam && f.Level == trouble {
			break
		}
	}
	rank := map[level]int{well: 0, note: 1, trouble: 2}
	slices.SortStableFunc(found, func(a, b finding) int { return rank[a.Level] - rank[b.Level] })
	if a.JSON {
		if err := a.PrintJSON(found); err != nil {
			return err
		}
	} else {
		showFindings(a, found)
	}
	switch {
	case slices.ContainsFunc(found, func(f finding) bool { return f.corrupt }):
		return cli.ExitWith(cli.ExitCorrupt)
	case slices.ContainsFunc(found, func(f finding) bool { return f.Level == trouble }):
		return cli.ExitWith(cli.ExitFailure)
	}
	return nil
}

// settling is how long a commit of another process may show the doctor a file without its fellow.
const settling = 50 * time.Millisecond

// examine runs one check, and fixes what it finds if that is asked for.
func (p *Context) examine(x Check, fix bool) finding {
	f := x.look(p)
	for range 2 {
		if f.Level != trouble {
			break
		}
		time.Sleep(settling)
		p.Forget()
		f = x.look(p)
	}
	if fix {
		f = p.treat(x, f)
	}
	f.Check = x.name
	return f
}

// treat fixes what a check found, and runs the check again.
func (p *Context) treat(x Check, f finding) finding {
	if x.mend == nil || f.Level != note && f.Level != trouble {
		return f
	}
	did, err := x.mend(p)
	p.Forget()
	after := x.look(p)
	if after.Text == "" {
		after.Level, after.Text = well, "nothing is wrong now"
	}
	switch {
	case err != nil && after.Text == f.Text: // else what is left is another trouble, with a remedy of its own
		why := cli.Explain(err)
		after.Mend = strings.TrimSuffix("could not be fixed: "+why.Message+"; "+why.Remedy, "; ")
	case after.Level == well || after.Text != f.Text:
		after.Fixed = did
	}
	return after
}

func showFindings(a *cli.App, found []finding) {
	colours := map[level]string{well: cli.Green, note: cli.Yellow, trouble: cli.Red}
	bad := 0
	for _, f := range found {
		mark := a.Paint(colours[f.Level], fmt.Sprintf("%-7s", f.Level))
		a.Say("%s  %-14s %s\n", mark, f.Check, format.IndentRest(f.Text))
		if f.Fixed != "" {
			a.Say("%24s %s %s\n", "", a.Paint(cli.Bold, "fixed:"), f.Fixed)
		}
		if f.Mend != "" && f.Level != well {
			a.Say("%24s → %s\n", "", strings.ReplaceAll(f.Mend, "\n", "\n"+strings.Repeat(" ", 27)))
		}
		if f.Level == trouble {
			bad++
		}
	}
	if bad == 0 {
		a.Say("\neverything is fine\n")
		return
	}
	a.Say("\n%s\n", format.Count(bad, "trouble", "troubles"))
}
