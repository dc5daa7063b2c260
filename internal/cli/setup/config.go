package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ConfigCommand is ferrus config.
func ConfigCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check, accept or explain ferrus.toml",
		Long: `Works with the configuration of the project. Checks, limits and agents are
frozen when a task is created. "ferrus config accept" applies later edits to it.`,
		Example: `  ferrus config check
  ferrus config accept
  ferrus config explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "check",
			Short: "Check ferrus.toml and compare it with the task",
			Long: `Reads ferrus.toml. An error is shown with its line, and the exit code is 2. It
also shows where the file differs from the values that are frozen with the task.
A missing program is a warning.`,
			Example: `  ferrus config check
  ferrus config check --branch fix-login --json`,
			Annotations: cli.Reference("", "path commands differs[{key pinned now}] warnings[]."),
			Args:        cobra.NoArgs,
			RunE:        func(cmd *cobra.Command, _ []string) error { return configCheck(a, cmd.Context()) },
		},
		&cobra.Command{
			Use:   "accept",
			Short: "Apply the present ferrus.toml to the task",
			Long: `Freezes [checks], [limits], [hq], [notify] and [[rules]] of ferrus.toml as they
are now with the task. Without this, the task keeps the values with which it was
created: agents cannot loosen their own checks.`,
			Example: `  ferrus config accept
  ferrus config accept --branch fix-login`,
			Annotations: cli.Reference("", "accepted[{key pinned now}] seq."),
			Args:        cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("accept")}, cli.Source{})
			},
		},
		&cobra.Command{
			Use:   "explain [KEY...]",
			Short: "List keys with their values and what they mean",
			Long: `Lists every key of ferrus.toml, or those that you name, with its value, its
default and what it means. The name of a table means all of its keys. The rules
follow in the order in which they are tried: the defaults, then those of the
file, each with its line.`,
			Example: `  ferrus config explain
  ferrus config explain limits.max_check_retries
  ferrus config explain checks --json`,
			Annotations: cli.Reference("", "[{key value default allowed comment line}]."),
			RunE:        func(cmd *cobra.Command, keys []string) error { return configExplain(a, cmd.Context(), keys) },
		},
		&cobra.Command{
			Use:   "example",
			Short: "Print a ferrus.toml with every key and its default",
			Long: `Prints an example file with comments. Your ferrus.toml needs only the keys that
you change.`,
			Example: "  ferrus config example > ferrus.toml",
			Args:    cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				_, err := a.Out.Write(config.Example())
				return err
			},
		},
	)
	return cmd
}

// configuration reads ferrus.toml of the project, or of the folder where there is no project yet.
func configuration(a *cli.App, ctx context.Context) (config.Config, string, error) {
	root, err := a.WorkingDir()
	if err != nil {
		return config.Config{}, "", err
	}
	if place, err := a.Place(ctx); err == nil {
		root = place.Root
	} else if refusal.CodeOf(err) != refusal.NotInitialised {
		return config.Config{}, "", err
	}
	path := filepath.Join(root, config.FileName)
	conf, err := config.LoadFor(path)
	if err != nil {
		return conf, path, cli.ConfigError(err)
	}
	return conf, path, nil
}

func configCheck(a *cli.App, ctx context.Context) error {
	conf, path, err := configuration(a, ctx)
	if err != nil {
		return err
	}
	for _, role := range cli.ConfiguredAgents(conf) {
		key := role.Table + ".agent"
		if err := cli.CheckCommand(role.Who, key); err != nil {
			return cli.Refuse(refusal.InvalidInput, conf.At(key)+strings.TrimPrefix(err.Error(), key), refusal.Say("name the command in ferrus.toml:\n%s", config.Lines(role.Table+".command", "my-agent {server}")))
		}
	}
	root := filepath.Dir(path)
	warnings := append(append([]string{}, cli.ConfigWarnings(conf, root)...), cli.AgentWarnings(conf, root)...)
	var differs []config.Change
	if e, err := a.OpenToRead(ctx); err == nil {
		st, err := e.Status()
		e.Close()
		if err != nil {
			return err
		}
		differs = st.Differs
	}
	commands := conf.Checks.Commands
	if a.JSON {
		return a.PrintJSON(map[string]any{"path": path, "commands": commands, "differs": differs, "warnings": warnings})
	}
	switch {
	case commands == nil:
		a.Say("%s is valid, but names no checks: nothing can be submitted\n%s\n", path, format.Indent(cli.SuggestChecks(filepath.Dir(path)), "  "))
	case len(commands) == 0:
		a.Say("%s is valid; commands = [] means that every check passes\n", path)
	default:
		a.Say("%s is valid: %s\n", path, format.Count(len(commands), "check", "checks"))
	}
	for _, w := range warnings {
		a.ShowRow("warning", a.Paint(cli.Yellow, w))
	}
	for _, c := range differs {
		a.Say("  %s\n", c)
	}
	if len(differs) > 0 {
		a.ShowSteps([]status.Step{{Command: "ferrus config accept", Why: "applies it to the present task"}})
	}
	return nil
}

func configExplain(a *cli.App, ctx context.Context, keys []string) error {
	conf, _, err := configuration(a, ctx)
	if err != nil {
		return err
	}
	rows, err := explained(append(conf.Explain(), conf.ExplainRules()...), keys)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	for _, r := range rows {
		value := fmt.Sprintf("%s = %s", r.Key, r.Value)
		if r.Set() {
			value += fmt.Sprintf("   (line %d; default %s)", r.Line, r.Default)
		}
		a.Say("%s\n  %s\n", a.Paint(cli.Bold, value), r.Comment)
	}
	return nil
}
