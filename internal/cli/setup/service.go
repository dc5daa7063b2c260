package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// serving is how a service is asked for.
type serving struct {
	yes       bool
	at, until string
	every     time.Duration
	parallel  int
}

// ServiceCommand is ferrus service.
func ServiceCommand(a *cli.App) *cobra.Command {
	var how serving
	const json = "services[{root name system active logs files[{path text}]}]."
	install := &cobra.Command{
		Use:   "install [DIR...] [--at TIME --until TIME | --every 5m]",
		Short: "Let the system work on projects while you are away",
		Long: `Lets systemd, launchd or cron call "ferrus step" every five minutes for each
project DIR, by default this one. With --at and --until it calls
"ferrus run --parallel" for the time between them, such as a night. It shows
what it writes and asks first; without a terminal it needs --yes.`,
		Example: `  ferrus service install
  ferrus service install --at 22:00 --until 07:00
  ferrus service install ~/src/site ~/src/api --every 10m --yes`,
		Annotations: cli.Reference(`The first of the three that works for you is used. The command gets PATH and the
variables of folders that your shell has now, and no other variable: a key of an
agent that is only in your shell is not there. Log the agents in instead. What
would stop "ferrus run" stops the installation, too.

Between --at and --until it starts each hour, so that a run that a restart of
the computer has ended goes on. After a usage limit the run or a later step goes
on by itself. A service that is there is replaced.`, json),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if !cmd.Flags().Changed("every") && how.at != "" {
				how.every = 0
			}
			return installServices(a, cmd.Context(), how, dirs)
		},
	}
	install.Flags().StringVar(&how.at, "at", "", "with --until: start runs from this `TIME` of the day on, such as 22:00")
	install.Flags().StringVar(&how.until, "until", "", "start no agent after this `TIME` of the day, such as 07:00")
	install.Flags().DurationVar(&how.every, "every", 5*time.Minute, "call ferrus step so often: minutes that divide an hour")
	install.Flags().IntVar(&how.parallel, "parallel", 3, "work on `N` tasks at a time")
	install.Flags().BoolVarP(&how.yes, "yes", "y", false, "do not ask")
	install.Flags().SortFlags = false
	remove := &cobra.Command{
		Use:   "remove [DIR...]",
		Short: "Remove the service of projects, with all that it has left",
		Long: `Ends the service of each project DIR, by default of this one, and removes its
files. A run that it has started ends with its agents; agents that a step has
started go on until they end, or until "ferrus stop".`,
		Example: `  ferrus service remove
  ferrus service remove ~/src/site`,
		Annotations: cli.Reference("", json),
		RunE:        func(cmd *cobra.Command, dirs []string) error { return removeServices(a, cmd.Context(), dirs) },
	}
	status := &cobra.Command{
		Use:   "status [DIR...]",
		Short: "Show the services of your projects",
		Long: `Shows which system works on each project DIR, and where its output is. By
default it looks at all projects in which you have agreed to something.`,
		Example: `  ferrus service status
  ferrus service status --json`,
		Annotations: cli.Reference("", json),
		RunE:        func(cmd *cobra.Command, dirs []string) error { return showServices(a, cmd.Context(), dirs) },
	}
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Let the system work on projects while you are away",
		Long: `Installs, shows and removes a service of systemd, launchd or cron that works on
your projects without a terminal.`,
		Example: `  ferrus service install --at 22:00 --until 07:00
  ferrus service status
  ferrus service remove`,
	}
	cmd.AddCommand(install, status, remove)
	return cmd
}

// A ServiceReport is the service of a project.
type ServiceReport struct {
	Root   string        `json:"root"`
	Name   string        `json:"name"`
	System string        `json:"system"`
	Active bool          `json:"active"`
	Logs   string        `json:"logs"`
	Files  []serviceFile `json:"files"`
}

// inherited are the variables that a service has from the shell that installs it: those that say where programs and folders are.
var inherited = []string{"PATH", trust.EnvStateDir, trust.EnvXDGState, trust.EnvXDGConf, "XDG_DATA_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"}

// service makes the service of a project.
func (how serving) service(root, home, program string) (service, error) {
	s := service{Name: serviceName(root), Root: root, Home: home, Args: []string{program, "-C", root}, Every: int(how.every / time.Minute)}
	for _, kv := range proc.Outside(os.Environ(), root) {
		if name, value, _ := strings.Cut(kv, "="); value != "" && slices.Contains(inherited, name) {
			s.Env = append(s.Env, kv)
		}
	}
	slices.Sort(s.Env)
	switch {
	case how.parallel < 1:
		return s, cli.UsageError("use --parallel 3", "--parallel %d is not a number of tasks", how.parallel)
	case how.at == "" && how.until == "":
		if s.Every < 1 || s.Every > 30 || 60%s.Every != 0 || how.every%time.Minute != 0 {
			return s, cli.UsageError("use --every 5m", "--every %s is none of the minutes that divide an hour", how.every)
		}
		s.Args = append(s.Args, "step", "--parallel", fmt.Sprint(how.parallel))
		return s, nil
	case how.at == "" || how.until == "" || how.every != 0:
		return s, cli.UsageError("use --at 22:00 --until 07:00, or --every 5m", "--at and --until belong together, without --every")
	}
	at, err := conductor.ParseClock(how.at)
	until, wrong := conductor.ParseClock(how.until)
	if err != nil || wrong != nil || at == until {
		return s, cli.UsageError("use --at 22:00 --until 07:00", "--at %s --until %s are not two times of the day", how.at, how.until)
	}
	s.Hours, s.Minute = hours(at, until), at.Minute
	s.Args = append(s.Args, "run", "--headless", "--parallel", fmt.Sprint(how.parallel), "--from", at.String(), "--until", until.String())
	return s, nil
}

func installServices(a *cli.App, ctx context.Context, how serving, dirs []string) error {
	roots, err := serviceRoots(a, ctx, "install", dirs)
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	sys, err := findSystem(ctx, roots[0])
	if err != nil {
		return err
	}
	var list []service
	var out []ServiceReport
	for _, root := range roots {
		s, err := how.service(root, home, program)
		if err != nil {
			return err
		}
		if err := errors.Join(s.unfit(sys), readyToServe(a, ctx, root)); err != nil {
			return err
		}
		list, out = append(list, s), append(out, ServiceReport{root, s.Name, sys.name, true, sys.logs(s), sys.files(s)})
	}
	if !how.yes {
		if !a.InTTY {
			return cli.UsageError("add --yes", "stdin is not a terminal, so ferrus cannot ask whether to install a service of %s", sys.name)
		}
		for _, r := range out {
			for _, f := range r.Files {
				cli.Fprintf(a.Err, "%s:\n%s\n", trust.Visible(f.Path), format.Indent(trust.VisibleLines(f.Text), "  "))
			}
		}
		cli.Fprintf(a.Err, "Install this with %s? [y/N] ", sys.name)
		if !a.Agrees(false) {
			return cli.Refuse(refusal.WrongState, "not installed: nothing was changed", "")
		}
	}
	for _, s := range list {
		_, there := servicesOf(ctx, s.Root)
		for _, other := range there {
			if other.name != sys.name {
				if err := other.remove(ctx, s); err != nil {
					return err
				}
			}
		}
		if err := sys.install(ctx, s); err != nil {
			return err
		}
	}
	return reportServices(a, "installed", out, sys.note)
}

// readyToServe refuses a service whose first run would be refused.
func readyToServe(a *cli.App, ctx context.Context, root string) error {
	e, err := a.OpenAt(project.At(root, ""))
	if err != nil {
		return err
	}
	defer e.Close()
	conf, err := cli.ValidConfig(e)
	if err != nil {
		return err
	}
	if err := a.WithTrust(e, e.Trusted); err != nil {
		return err
	}
	if err := a.AllowUnrehearsed(e, false, true); err != nil {
		return err
	}
	return cli.CheckReady(ctx, e, conf.Gate(), true)
}

// serviceRoots are the projects of the folders, by default of the one that the command works in. Of a folder that is gone it is the path:
// its service may be there.
func serviceRoots(a *cli.App, ctx context.Context, verb string, dirs []string) (roots []string, err error) {
	if a.Branch != "" {
		return nil, cli.UsageError("omit --branch", "a service works on all branches of a project")
	}
	if len(dirs) == 0 {
		dirs = []string{a.Dir}
	}
	for _, dir := range dirs {
		gone := verb != "install" && dir != "" && !rootfs.Exists(dir)
		if a.Dir = dir; gone {
			a.Dir = ""
		}
		if verb != "status" {
			if err := a.RefuseAgent("service " + verb); err != nil {
				return nil, err
			}
		}
		place, err := a.Place(ctx)
		root := place.Root
		if gone || verb != "install" && err != nil {
			root, err = filepath.Abs(dir)
		}
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// services adds the service of a project.
func (r *removal) services(ctx context.Context, root string) {
	s, there := servicesOf(ctx, root)
	for _, sys := range there {
		r.add("the service "+s.Name, "of "+sys.name, func() error { return sys.remove(ctx, s) })
	}
}

// servicesOf returns the service of a project, as far as its name says it, and the systems that have it.
func servicesOf(ctx context.Context, root string) (s service, there []system) {
	home, _ := os.UserHomeDir() // without one there is none
	s = service{Name: serviceName(root), Root: root, Home: home, Args: []string{""}}
	return s, slices.DeleteFunc(slices.Clone(systems), func(sys system) bool { return !sys.installed(ctx, s) })
}

// handleServices acts on the services of projects that are there, and shows them under a word.
func handleServices(a *cli.App, ctx context.Context, word string, roots []string, act func(sys system, s service) error) error {
	slices.Sort(roots)
	var out []ServiceReport
	for _, root := range slices.Compact(roots) {
		s, there := servicesOf(ctx, root)
		for _, sys := range there {
			if err := act(sys, s); err != nil {
				return err
			}
			r := ServiceReport{root, s.Name, sys.name, sys.active(ctx, s), sys.logs(s), []serviceFile{}}
			for _, f := range sys.files(s) {
				r.Files = append(r.Files, serviceFile{Path: f.Path}) // not what it would say now
			}
			out = append(out, r)
		}
	}
	return reportServices(a, word, out, "")
}

func removeServices(a *cli.App, ctx context.Context, dirs []string) error {
	roots, err := serviceRoots(a, ctx, "remove", dirs)
	if err != nil {
		return err
	}
	return handleServices(a, ctx, "removed", roots, func(sys system, s service) error { return sys.remove(ctx, s) })
}

func showServices(a *cli.App, ctx context.Context, dirs []string) error {
	roots, err := trust.Projects()
	if len(dirs) > 0 || a.Dir != "" {
		roots, err = serviceRoots(a, ctx, "status", dirs)
	}
	if err != nil {
		return err
	}
	return handleServices(a, ctx, "service", roots, func(system, service) error { return nil })
}

// reportServices shows services under a word.
func reportServices(a *cli.App, word string, list []ServiceReport, note string) error {
	if a.JSON {
		return a.PrintJSON(map[string]any{"services": append([]ServiceReport{}, list...)})
	}
	if len(list) == 0 {
		a.Say("there is no service\n")
	}
	for _, r := range list {
		state := r.System
		if !r.Active && word == "service" {
			state += ", not active: ferrus service install writes it again"
		}
		a.ShowRow(word, trust.Visible(r.Root)+"  "+state)
		for _, f := range r.Files {
			a.ShowRow("", trust.Visible(f.Path))
		}
		if word != "removed" {
			a.ShowRow("output", r.Logs)
		}
	}
	if note != "" {
		a.ShowRow("note", note)
	}
	return nil
}
