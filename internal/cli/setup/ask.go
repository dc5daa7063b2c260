package setup

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// choose is what ferrus.toml is given: in a terminal what a person says to the proposal, else the proposal.
func choose(a *cli.App, checks []string, hq config.HQ, found []cli.FoundAgent) ([]string, config.HQ) {
	if !a.InTTY || !a.OutTTY || a.JSON {
		return checks, hq
	}
	a.Say("ferrus.toml will say:\n")
	for _, c := range checks {
		a.ShowRow("check", c)
	}
	if checks == nil {
		a.ShowRow("check", a.Paint(cli.Yellow, "none: no tests were found"))
	}
	for _, role := range []struct{ is, agent string }{{"supervisor", hq.Supervisor.Agent}, {"executor", hq.Executor.Agent}} {
		if role.agent != "" {
			a.ShowRow(role.is, role.agent)
		}
	}
	showFound(a, found, hq.Supervisor.Agent, hq.Executor.Agent)
	if checks != nil && askLine(a, "Write this? [Y/n, n asks for each] ", "y") == "y" {
		return checks, hq
	}
	hq.Supervisor.Agent = askAgent(a, "the agent that reviews", hq.Supervisor.Agent)
	hq.Executor.Agent = askAgent(a, "the agent that does the work", hq.Executor.Agent)
	return askChecks(a, checks), hq
}

// askLine asks one thing in the terminal; what is typed, or when that is nothing the usual answer.
func askLine(a *cli.App, question, usual string) string {
	a.Say("%s", question)
	if answer := a.ReadWord(); answer != "" {
		return answer
	}
	return usual
}

// askAgent asks for the name of an agent until there is one of that name.
func askAgent(a *cli.App, who, usual string) string {
	for {
		name := askLine(a, fmt.Sprintf("%s [%s]: ", who, usual), usual)
		if _, err := agents.Find(name); err == nil || name == usual {
			return name
		} else {
			a.Say("%v\n", err)
		}
	}
}

// askChecks asks for commands, one a line. None at all leaves the proposed ones.
func askChecks(a *cli.App, proposed []string) []string {
	a.Say("commands that must exit 0, one a line, an empty line at the end [%s]:\n", strings.Join(proposed, "; "))
	var checks []string
	for {
		line := a.ReadWord()
		switch {
		case line != "":
			checks = append(checks, line)
		case checks == nil:
			return proposed
		default:
			return checks
		}
	}
}

// showFound warns of what keeps the chosen agents from working, with what helps.
func showFound(a *cli.App, found []cli.FoundAgent, chosen ...string) {
	said := map[string]bool{}
	for _, s := range found {
		for _, name := range chosen {
			if name != s.Name || said[name] {
				continue
			}
			said[name] = true
			switch {
			case s.Broken != "":
				a.ShowRow("warning", a.Paint(cli.Yellow, s.Name+" does not work: "+format.Line(s.Broken)+"; "+s.Adapter.Install+" installs it"))
			case s.LoggedOut:
				a.ShowRow("warning", a.Paint(cli.Yellow, s.Name+" is not logged in: "+s.Adapter.LogIn))
			}
		}
	}
	if len(found) == 0 {
		text, lines := cli.InstallAgent()
		a.ShowRow("warning", a.Paint(cli.Yellow, "no agent is installed, so that ferrus.toml names none; "+text))
		a.Say("%s\n", format.Indent(lines, "              "))
	}
}
