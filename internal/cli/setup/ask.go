package setup

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// choose shows a person the proposal, with every command and where it was found, and asks once for all of it. It returns what they
// agree to, and whether the commands are to run once. Without a terminal, or with --yes, the proposal is taken and nothing is asked.
func choose(a *cli.App, p proposal, how options) (chosen proposal, rehearse bool, err error) {
	if how.yes || !a.InTTY || !a.OutTTY || a.JSON {
		return p, how.rehearse, nil
	}
	p.show(a)
	p.asked = true
	runs := p.git && p.Checks != nil
	question := "Write this? [Y/n, n asks for each] "
	if runs {
		question = "Write this, and run the commands once in a fresh work tree? [Y/n, w only writes, n asks for each] "
	}
	answer := "n"
	if p.Checks != nil {
		if answer, err = askLine(a, question, "y"); err != nil {
			return p, false, err
		}
	}
	switch answer {
	case "y", "yes":
		return p, runs, nil
	case "w":
		return p, how.rehearse, nil
	}
	for _, ask := range []func(*cli.App, *proposal) error{askAgents, askChecks, askSetup, askLimits, askChannels, askInclude} {
		if err := ask(a, &p); err != nil {
			return p, false, err
		}
	}
	if !p.git || len(p.Checks) == 0 {
		return p, how.rehearse, nil
	}
	p.showCommands(a)
	answer, err = askLine(a, "Run these once in a fresh work tree? [Y/n] ", "y")
	return p, answer == "y" || answer == "yes", err
}

// show shows what would be written, and what would run.
func (p proposal) show(a *cli.App) {
	a.Say("ferrus.toml will say:\n")
	p.showCommands(a)
	if p.Checks == nil {
		a.ShowRow("check", a.Paint(cli.Yellow, "none: no tests were found"))
	}
	for _, role := range []struct{ is, agent string }{{"supervisor", p.HQ.Supervisor.Agent}, {"executor", p.HQ.Executor.Agent}} {
		if role.agent != "" {
			a.ShowRow(role.is, role.agent)
		}
	}
	a.ShowRow("limits", budgetText(p.Limits))
	a.ShowRow("notify", channelText(p.Channels))
	if len(p.include) > 0 {
		a.ShowRow("copy", cli.Styled(trust.Visible(strings.Join(p.include, " ")))+a.Paint(cli.Dim, "  into new work trees, where agents read it: "+checkout.IncludeFile))
	}
	showFound(a, p.found, p.HQ.Supervisor.Agent, p.HQ.Executor.Agent)
}

// showCommands shows each command and where it was found.
func (p proposal) showCommands(a *cli.App) {
	row := func(name, command string) {
		text := cli.Styled(trust.Visible(command))
		if from := p.from[command]; from != "" {
			text += a.Paint(cli.Dim, "  from "+trust.Visible(from))
		}
		a.ShowRow(name, text)
	}
	if p.Setup != "" {
		row("set-up", p.Setup)
	}
	for _, c := range p.Checks {
		row("check", c)
	}
}

// askLine asks one thing in the terminal; what is typed, or when that is nothing the usual answer. The end of the input is no answer.
func askLine(a *cli.App, question, usual string) (string, error) {
	a.Say("%s", question)
	answer, entered := a.ReadLine()
	switch {
	case !entered:
		return "", cli.Refuse(refusal.WrongState, "not answered: ferrus.toml was not written, and nothing ran", "ferrus init asks again; ferrus init --yes takes the proposals")
	case answer == "":
		return usual, nil
	}
	return answer, nil
}

// askAgents asks for the names of the agents until there are such agents.
func askAgents(a *cli.App, p *proposal) error {
	for _, role := range []struct {
		who string
		of  *config.Agent
	}{{"the agent that reviews", &p.HQ.Supervisor}, {"the agent that does the work", &p.HQ.Executor}} {
		for usual := role.of.Agent; ; {
			name, err := askLine(a, fmt.Sprintf("%s [%s]: ", role.who, usual), usual)
			if err != nil {
				return err
			}
			_, err = agents.Find(name)
			if err == nil || name == usual {
				role.of.Agent = name
				break
			}
			a.Say("%v\n", err)
		}
	}
	p.Limits = budgets(p.HQ)
	return nil
}

// askChecks asks for commands, one a line. None at all leaves the proposed ones.
func askChecks(a *cli.App, p *proposal) error {
	a.Say("commands that must exit 0, one a line, an empty line at the end [%s]:\n", trust.Visible(strings.Join(p.Checks, "; ")))
	var checks []string
	for {
		line, err := askLine(a, "", "")
		switch {
		case err != nil:
			return err
		case line != "":
			checks = append(checks, line)
			continue
		case checks != nil:
			p.Checks = checks
		}
		return nil
	}
}

func askSetup(a *cli.App, p *proposal) error {
	line, err := askLine(a, fmt.Sprintf("the command that sets a new work tree up, - for none [%s]: ", trust.Visible(p.Setup)), p.Setup)
	if p.Setup = line; line == "-" {
		p.Setup = ""
	}
	return err
}

// askLimits asks for the budgets that are proposed for these agents.
func askLimits(a *cli.App, p *proposal) error {
	for _, of := range []struct {
		what string
		n    *int
	}{{"minutes", &p.Limits.MaxTaskMinutes}, {"dollars", &p.Limits.MaxTaskDollars}, {"tokens", &p.Limits.MaxTaskTokens}} {
		if *of.n == 0 {
			continue
		}
		for {
			answer, err := askLine(a, fmt.Sprintf("%s that one task may use, 0 for no limit [%d]: ", of.what, *of.n), strconv.Itoa(*of.n))
			if err != nil {
				return err
			}
			if n, err := strconv.Atoi(answer); err == nil && n >= 0 && n <= 1_000_000_000 {
				*of.n = n
				break
			}
			a.Say("%s is not a number\n", format.Line(answer))
		}
	}
	return nil
}

// askChannels asks how the person is told that ferrus waits. A URL is a secret, which does not belong into a file of the project.
func askChannels(a *cli.App, p *proposal) error {
	for usual := channelText(p.Channels); ; {
		answer, err := askLine(a, fmt.Sprintf("how you are notified: desktop, none, or $%s for the URL in that variable [%s]: ", notifyURL, usual), usual)
		if err != nil {
			return err
		}
		switch {
		case answer == "desktop":
			p.Channels = config.Channels{Desktop: true}
		case answer == "none":
			p.Channels = config.Channels{}
		case config.Variable(answer) != "":
			p.Channels = config.Channels{URLs: []string{answer}}
		default:
			a.Say("a URL is a secret: put it into a variable whose name begins with FERRUS_NOTIFY, and name that here\n")
			continue
		}
		return nil
	}
}

func askInclude(a *cli.App, p *proposal) error {
	if len(p.include) == 0 {
		return nil
	}
	answer, err := askLine(a, fmt.Sprintf("copy %s into new work trees, where agents read it? [Y/n] ", trust.Visible(strings.Join(p.include, " "))), "y")
	if answer != "y" && answer != "yes" {
		p.include = nil
	}
	return err
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
			case s.Silent:
				a.ShowRow("warning", a.Paint(cli.Yellow, s.Name+" did not say in time whether it is logged in; to log in: "+s.Adapter.LogIn))
			}
		}
	}
	if len(found) == 0 {
		a.ShowRow("warning", a.Paint(cli.Yellow, "no agent is installed, so that ferrus.toml names none"))
	}
}
