package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

func configCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "ferrus.toml: check, accept, explain, example",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "check",
			Short: "Say whether ferrus.toml is sound, and where it differs from the pinned gate",
			Long: "Reads ferrus.toml. A fault is named with its line; exit code 2.\n\n" +
				"A program that is not there now is a warning.\n\nWith --json: path commands differs[{key pinned now}] warnings[].",
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.configCheck(cmd.Context()) },
		},
		&cobra.Command{
			Use:   "accept",
			Short: "Make ferrus.toml as it is now hold for the running task",
			Long: `Pins [checks], [limits], [hq] and [notify] of ferrus.toml to the running task. Until then the values hold with which it was
made, whatever the file says: the judged cannot weaken the judge.

With --json: accepted[{key pinned now}] seq.`,
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.configAccept(cmd.Context()) },
		},
		&cobra.Command{
			Use:   "explain",
			Short: "Every key with its value, its default and what it is",
			Long:  "Lists every key.\n\nWith --json: [{key value default allowed comment line}].",
			Args:  cobra.NoArgs,
			RunE:  func(cmd *cobra.Command, _ []string) error { return a.configExplain(cmd.Context()) },
		},
		&cobra.Command{
			Use:   "example",
			Short: "Print a ferrus.toml with every key and its default",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				_, err := a.out.Write(config.Example())
				return err
			},
		},
	)
	return cmd
}

// configuration reads ferrus.toml of the project, or of the folder where there is no project yet.
func (a *app) configuration(ctx context.Context) (config.Config, string, error) {
	root, err := a.where()
	if err != nil {
		return config.Config{}, "", err
	}
	if place, err := a.place(ctx); err == nil {
		root = place.Root
	} else if engine.CodeOf(err) != engine.NotInitialised {
		return config.Config{}, "", err
	}
	path := filepath.Join(root, config.FileName)
	conf, err := config.LoadFor(path)
	if err != nil {
		return conf, path, broken(err)
	}
	return conf, path, nil
}

func broken(err error) error {
	return refuse(engine.InvalidInput, err.Error(), "ferrus config explain lists every key, ferrus config example shows them")
}

func (a *app) configCheck(ctx context.Context) error {
	conf, path, err := a.configuration(ctx)
	if err != nil {
		return err
	}
	for _, role := range players(conf) {
		key := role.table + ".agent"
		if err := commanded(role.who, key); err != nil {
			return refuse(engine.InvalidInput, conf.At(key)+strings.TrimPrefix(err.Error(), key), "name the command in ferrus.toml:\n"+config.Lines(role.table+".command", "my-agent {server}"))
		}
	}
	root := filepath.Dir(path)
	warnings := append(append([]string{}, doubts(conf, root)...), agentDoubts(conf, root)...)
	var differs []config.Change
	if e, err := a.look(ctx); err == nil {
		st, err := e.Status()
		e.Close()
		if err != nil {
			return err
		}
		differs = st.Differs
	}
	commands := conf.Checks.Commands
	if a.json {
		return a.print(map[string]any{"path": path, "commands": commands, "differs": differs, "warnings": warnings})
	}
	switch {
	case commands == nil:
		a.say("%s is sound, but names no checks: nothing can be submitted\n%s\n", path, indented(nameChecks(filepath.Dir(path)), "  "))
	case len(commands) == 0:
		a.say("%s is sound; commands = [] means that every check passes\n", path)
	default:
		a.say("%s is sound: %s\n", path, count(len(commands), "check", "checks"))
	}
	for _, w := range warnings {
		a.row("warning", a.paint(yellow, w))
	}
	a.changes(differs)
	if len(differs) > 0 {
		a.next([]step{{"ferrus config accept", "makes it hold for the running task"}})
	}
	return nil
}

func (a *app) changes(list []config.Change) {
	for _, c := range list {
		a.say("  %s\n    pinned  %s\n    now     %s\n", a.paint(bold, c.Key), c.Pinned, c.Now)
	}
}

func (a *app) configAccept(ctx context.Context) error {
	s, err := a.person(ctx, "config accept")
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	changes, done, err := s.AcceptConfig(ctx)
	if err != nil {
		var r *engine.Refusal
		if errors.As(err, &r) && r.Wrong != nil && r.Wrong.State == state.Idle {
			return refuse(r.Code, "nothing to accept: there is no task", "the next one will be given ferrus.toml as it is then")
		}
		return failed("accept the configuration", "", err)
	}
	if a.json {
		return a.print(map[string]any{"accepted": changes, "seq": done.Task.Seq})
	}
	if len(changes) == 0 {
		a.say("nothing to do: the pinned gate is that of ferrus.toml\n")
		return nil
	}
	a.say("accepted for %s:\n", done.Task.TaskID)
	a.changes(changes)
	return nil
}

func (a *app) configExplain(ctx context.Context) error {
	conf, _, err := a.configuration(ctx)
	if err != nil {
		return err
	}
	rows := conf.Explain()
	if a.json {
		return a.print(rows)
	}
	for _, r := range rows {
		value := fmt.Sprintf("%s = %s", r.Key, r.Value)
		if r.Set() {
			value += fmt.Sprintf("   (line %d; default %s)", r.Line, r.Default)
		}
		a.say("%s\n  %s\n", a.paint(bold, value), r.Comment)
	}
	return nil
}
