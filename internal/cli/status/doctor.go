package status

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status/doctor"
)

// DoctorCommand is ferrus doctor.
func DoctorCommand(a *cli.App) *cobra.Command {
	var fix, adopt, sandboxes bool
	cmd := &cobra.Command{
		Use:   "doctor [--fix | --adopt | --sandbox]",
		Short: "Check the project and fix what can be fixed",
		Long: `Checks the project, its files, the agents and git. It prints one line for each
check, problems last, with the command that helps. A note is not a problem.
Nothing is changed without --fix or --adopt. The exit code is 0 without
problems, 8 if the journal is damaged or was not made here, and 1 otherwise.`,
		Example: `  ferrus doctor
  ferrus doctor --fix
  ferrus doctor --adopt
  ferrus doctor --sandbox`,
		Annotations: cli.Reference(`With --fix, ferrus restores a lost .ferrus from the hard-linked copy of the
journal. It rewrites generated files and archives, and removes an incomplete
line at the end of the journal. It creates the copy of the journal again if it
is missing. It restores the modes of files in .ferrus. It moves the files of
upstream ferrus into the archive. Removed files go to logs/ or archive/,
except for locks of sessions that ended long ago.

The journal and its copy should be one file. If they are two files, --fix
verifies every line of both and makes both the valid one. The other version is
kept. If neither is valid, or both are valid and differ, nothing is changed, and
ferrus says what you can do.

State that was not made on this machine, such as a journal from a git pull, is
moved to archive/foreign-*. Your journal is restored from its copy. --adopt does
what --fix does, and accepts a journal in .ferrus as yours. Use it after you
restored a backup, moved the project to another machine, or lost the end of the
journal.

--sandbox examines the machine instead of the project. It tries each attack of
docs/security.md on a victim made for it. First it uses no sandbox, then each
mechanism that works here. The exit code is 1 if an attack succeeds that should
be stopped.`, "[{check level text mend fixed}]. level is ok, note or trouble.\n"+
			"With --sandbox: mechanisms[] (name holds version why) attacks[] (attack\nresults{} broken). A result is stopped, not stopped or not possible here."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sandboxes {
				if fix || adopt {
					return cli.UsageError("leave out --fix and --adopt", "--sandbox examines this machine, where there is nothing to fix")
				}
				return runSandbox(a, cmd.Context())
			}
			return runDoctor(a, cmd.Context(), fix || adopt, adopt)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "fix what can be fixed, and say what was done")
	cmd.Flags().BoolVar(&adopt, "adopt", false, "also accept a journal that was not made here as yours")
	cmd.Flags().BoolVar(&sandboxes, "sandbox", false, "show which attacks the sandboxes of this machine stop")
	return cmd
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
	var who []config.Agent
	if conf, err := config.LoadFor(filepath.Join(place.Root, config.FileName)); err == nil {
		who = slices.Concat(conf.HQ.Supervisor.List(), conf.HQ.Executor.List())
	}
	ctx, answered := cli.AskClients(ctx, place.Root, who...)
	defer answered()
	ctx, end := a.Working(ctx, "checking the project")
	defer end()
	p := doctor.New(ctx, place, Host(a), adopt)
	defer p.Forget()
	found := p.Examine(slices.Concat(doctor.Checks(), checks), fix)
	end()
	for i := range found {
		found[i].Remedy = refusal.Say("%s", a.Remedy(&cli.Failure{Remedy: found[i].Remedy}))
	}
	rank := map[doctor.Level]int{doctor.OK: 0, doctor.Note: 1, doctor.Trouble: 2}
	slices.SortStableFunc(found, func(a, b doctor.Finding) int { return rank[a.Level] - rank[b.Level] })
	if a.JSON {
		if err := a.PrintJSON(found); err != nil {
			return err
		}
	} else {
		showFindings(a, found)
	}
	switch {
	case slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Corrupt }):
		return cli.ExitWith(cli.ExitCorrupt)
	case slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Level == doctor.Trouble }):
		return cli.ExitWith(cli.ExitFailure)
	}
	return nil
}

func showFindings(a *cli.App, found []doctor.Finding) {
	colours := map[doctor.Level]string{doctor.OK: cli.Green, doctor.Note: cli.Yellow, doctor.Trouble: cli.Red}
	bad := 0
	for _, f := range found {
		mark := a.Paint(colours[f.Level], fmt.Sprintf("%-7s", f.Level))
		a.Say("%s  %-14s %s\n", mark, f.Check, format.IndentRest(f.Text))
		if f.Fixed != "" {
			a.Say("%24s %s %s\n", "", a.Paint(cli.Bold, "fixed:"), f.Fixed)
		}
		if f.Remedy != "" && f.Level != doctor.OK {
			a.Say("%24s → %s\n", "", strings.ReplaceAll(f.Remedy.String(), "\n", "\n"+strings.Repeat(" ", 27)))
		}
		if f.Level == doctor.Trouble {
			bad++
		}
	}
	if bad == 0 {
		a.Say("\neverything is fine\n")
		return
	}
	a.Say("\n%s\n", format.Count(bad, "trouble", "troubles"))
}

// checks are those of what other commands need.
var checks = []doctor.Check{
	{Name: "ferrus.toml", Look: checkConfig},
	{Name: "workflows.json", Look: checkWorkflows},
	{Name: "notify", Look: checkNotify},
	{Name: "supervisor", Look: checkSupervisor, Once: true},
	{Name: "executor", Look: checkExecutor, Once: true},
	{Name: "registered", Look: checkRegistered, Once: true},
	{Name: "processes", Look: checkProcesses},
}

// Host is a command, as the checks of a project see it.
func Host(a *cli.App) doctor.Host {
	return doctor.Host{
		Options: a.Options,
		SetUp: func(ctx context.Context, root string) (bool, []string, error) {
			did, err := setupcmd.SetUp(a, ctx, root)
			return did.Restored, did.Wrote, err
		},
	}
}
