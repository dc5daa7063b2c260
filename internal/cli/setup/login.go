package setup

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// logIn starts the client of an agent in a sandbox, for a person to log in, and reports whether it has a login afterwards.
func logIn(ctx context.Context, a *cli.App, gate config.Gate, place project.Place, agent agents.Adapter, args []string) error {
	failed := func(message string, remedy refusal.Own) error {
		return &cli.Failure{Code: "failure", Message: message, Remedy: remedy, Exit: cli.ExitFailure}
	}
	if agent.LoginFile() == "" {
		return failed("ferrus does not know where "+agent.Name+" keeps a login", "name another agent with --agent")
	}
	login, err := plan.LogIn(ctx, gate, place, agent, cli.Programs(place.Root))
	if err != nil {
		return cli.CannotDo("log in", "", err)
	}
	path, err := agent.Path(login.Environ)
	if err != nil {
		what, how, _ := strings.Cut(err.Error(), ": ")
		return failed(what, refusal.Say("%s", how))
	}
	words := []string{path}
	if fields := strings.Fields(agent.LogIn); len(fields) > 0 {
		words = append(words, fields[1:]...)
	}
	words = append(append(login.Prefix, words...), args...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = login.Home, login.Environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if !plan.LoggedIn(gate, place, agent) {
		if err != nil {
			return failed(agent.Name+" has not logged in: "+err.Error(), "try again: ferrus open{branch} executor --login")
		}
		return failed(agent.Name+" has ended without a login", "try again: ferrus open{branch} executor --login")
	}
	a.Say("executors of this project that run in a sandbox use this login of %s\n", agent.Title)
	return nil
}
