package main

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
)

// choose is what ferrus.toml is given: in a terminal what a person says to the proposal, else the proposal.
func (a *app) choose(checks []string, hq config.HQ, found []sighting) ([]string, config.HQ) {
	if !a.inTTY || !a.outTTY || a.json {
		return checks, hq
	}
	a.say("ferrus.toml will say:\n")
	for _, c := range checks {
		a.row("check", c)
	}
	if checks == nil {
		a.row("check", a.paint(yellow, "none: no tests were found"))
	}
	for _, role := range []struct{ is, agent string }{{"supervisor", hq.Supervisor.Agent}, {"executor", hq.Executor.Agent}} {
		if role.agent != "" {
			a.row(role.is, role.agent)
		}
	}
	a.showFound(found, hq.Supervisor.Agent, hq.Executor.Agent)
	if checks != nil && a.askLine("Write this? [Y/n, n asks for each] ", "y") == "y" {
		return checks, hq
	}
	hq.Supervisor.Agent = a.askAgent("the agent that reviews", hq.Supervisor.Agent)
	hq.Executor.Agent = a.askAgent("the agent that does the work", hq.Executor.Agent)
	return a.askChecks(checks), hq
}

// askLine asks one thing in the terminal; what is typed, or when that is nothing the usual answer.
func (a *app) askLine(question, usual string) string {
	a.say("%s", question)
	if answer := a.word(); answer != "" {
		return answer
	}
	return usual
}

// askAgent asks for the name of an agent until there is one of that name.
func (a *app) askAgent(who, usual string) string {
	for {
		name := a.askLine(fmt.Sprintf("%s [%s]: ", who, usual), usual)
		if _, err := agents.Find(name); err == nil || name == usual {
			return name
		} else {
			a.say("%v\n", err)
		}
	}
}

// askChecks asks for commands, one a line. None at all leaves the proposed ones.
func (a *app) askChecks(proposed []string) []string {
	a.say("commands that must exit 0, one a line, an empty line at the end [%s]:\n", strings.Join(proposed, "; "))
	var checks []string
	for {
		line := a.word()
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
func (a *app) showFound(found []sighting, chosen ...string) {
	said := map[string]bool{}
	for _, s := range found {
		for _, name := range chosen {
			if name != s.Name || said[name] {
				continue
			}
			said[name] = true
			switch {
			case s.Broken != "":
				a.row("warning", a.paint(yellow, s.Name+" does not work: "+line(s.Broken)+"; "+s.adapter.Install+" installs it"))
			case s.LoggedOut:
				a.row("warning", a.paint(yellow, s.Name+" is not logged in: "+s.adapter.LogIn))
			}
		}
	}
	if len(found) == 0 {
		first := agents.All()[0]
		a.row("warning", a.paint(yellow, "no agent is installed; "+first.Install+" installs one, which may play both roles:"))
		for _, key := range []string{"hq.supervisor.agent", "hq.executor.agent"} {
			a.say("%s\n", indented(config.Lines(key, first.Name), "              "))
		}
	}
}
