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
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/format"
)

// Command is ferrus doctor.
func Command(a *cli.App) *cobra.Command {
	var fix, adopt bool
	cmd := &cobra.Command{
		Use:   "doctor [--fix | --adopt]",
		Short: "Say whether all is well, and mend what can be mended",
		Long: `Looks at everything ferrus stands on, one line each: what is well first, trouble last, with what helps. A note is worth
knowing and no trouble. Without --fix nothing is changed. The exit code is 0 when there is no trouble, 8 when the journal
contradicts itself or was not made here, else 1.

--fix restores a lost .ferrus from the journal's second link, makes views and archives again, cuts what a crash left at
the journal's end, gives the journal its second link, and moves what upstream ferrus left into the archive. What it
takes away is kept in logs/ or archive/, but for the locks of sessions that ended long ago.

The journal and its second link should be one file. Where they are two, --fix checks every line of both and makes both the
valid one; the other is kept. If neither is valid, or both are and they differ, it changes nothing and says what you can do.

State that was not made on this machine, such as a journal that a git pull brought, is moved to archive/foreign-* and yours
restored from the journal's second link. --adopt does what --fix does, and takes a journal that is in .ferrus as yours: after
you restored a backup, brought the project from another machine, or lost the end of the journal.

With --json: [{check level text mend fixed}], level being ok, note or trouble.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(a, cmd.Context(), fix || adopt, adopt) },
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "mend what can be mended, and say what was done")
	cmd.Flags().BoolVar(&adopt, "adopt", false, "also take a journal that was not made here as yours")
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
	p := &Context{Ctx: ctx, A: a, Place: place, backup: engine.Backup(place), adopt: adopt}
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

// examine makes one exam, and mends what it shows if that is asked for.
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

// treat mends what an exam has shown, and makes it again.
func (p *Context) treat(x Check, f finding) finding {
	if x.mend == nil || f.Level != note && f.Level != trouble {
		return f
	}
	did, err := x.mend(p)
	p.Forget()
	after := x.look(p)
	if after.Text == "" {
		after.Level, after.Text = well, "nothing is wrong any more"
	}
	switch {
	case err != nil && after.Text == f.Text: // else what is left is another trouble, with a remedy of its own
		why := cli.Explain(err)
		after.Mend = strings.TrimSuffix("could not be mended: "+why.Message+"; "+why.Remedy, "; ")
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
		a.Say("\nall is well\n")
		return
	}
	a.Say("\n%s\n", format.Count(bad, "trouble", "troubles"))
}
