// Package agents describes the coding agents that ferrus can start. One row of a table for each
// agent says how to launch it with only the tools of ferrus and the permissions of its duty, and
// how to parse its output.
//
// The package starts no process and does not wait. It turns a [LaunchSpec] into a [Launch], and
// output into a [Reading]. internal/agents/process runs the processes. internal/agents/register
// edits the clients' own configuration files.
package agents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A Duty is what an agent is started for. It names the agent's slot, its runs and its prompt.
type Duty string

const (
	Executor   Duty = "executor"   // does the work: may edit files and run commands
	Consultant Duty = "consultant" // answers one consultation: reads only
	Reviewer   Duty = "reviewer"   // judges one submission: reads only
	Supervisor Duty = "supervisor" // leads a whole task beside a person: reads only
	Worker     Duty = "worker"     // writes one file of a run of a pipeline: may edit files and run commands, alone
)

// Duties returns the duties at a task. That of a worker is none of them: it works in a run of a pipeline, of which there
// may be many beside the task.
func Duties() []Duty { return []Duty{Executor, Consultant, Reviewer, Supervisor} }

// Role is the role in which an agent with the duty meets the task. A worker meets none, and no table of the task knows
// its role.
func (d Duty) Role() state.Role {
	switch d {
	case Executor:
		return state.Executor
	case Worker:
		return state.Role(Worker)
	}
	return state.Supervisor
}

// Writes reports whether the duty needs to edit files and run commands. An agent whose duty does not is given no tool
// that could.
func (d Duty) Writes() bool { return d == Executor || d == Worker }

// A LaunchSpec is one place at a task or in a run of a pipeline: what an agent is to do there, and where.
type LaunchSpec struct {
	Duty     Duty
	Index    int      // tells agents of one name apart; from 1
	Model    string   // "" leaves the choice to the agent
	Args     []string // a person's additions to the agent's command line
	Command  string   // the shell command of the adapter "command"
	Prompt   string   // what the agent is told first; "" only when it is not headless
	Headless bool     // nobody looks on: it must ask for no permission, and end by itself
	Ferrus   string   // absolute path of the ferrus program, whose `serve` is the agent's MCP server
	Root     string   // absolute path of the project
	Branch   string   // of the machine; "" for the project's own
	Work     string   // absolute path of the folder to work in
	Scratch  string   // absolute path of a folder of ours for the files of a launch
	Environ  []string // the environment of whoever starts it, NAME=value

	Run    string // of a worker: absolute path of the folder of its run
	Name   string // of a worker: its role in the pipeline
	Output string // of a worker: absolute path of the one file it writes; of one who takes turns, the dialogue.json
}

// A Launch is everything that a process needs to become the agent of a seat.
type Launch struct {
	Argv  []string          // Argv[0] is a name to be looked up on the PATH of Env, or a path
	Env   []string          // the whole environment, NAME=value
	Dir   string            // the working directory
	Stdin string            // all it is given to read; "" is nothing
	Files map[string]string // absolute path to content; written before the start, readable by the user alone
}

// An Adapter is one agent that ferrus knows how to start.
type Adapter struct {
	Name     string   // as in ferrus.toml
	Title    string   // as its makers call it
	Program  string   // to be found on PATH; "" for "command"
	Install  string   // the command that installs it
	LogIn    string   // the command by which a person logs in; "" where it has none that ferrus knows
	Wait     int      // how many seconds one tool call may wait under it
	Executes string   // what an executor may do unasked when it is headless
	Reviews  string   // what every other duty of a task may do, headless or not
	Works    string   // what a worker of a pipeline may do unasked when it is headless
	Settings []string // files of a project by which it runs commands, and which it cannot be told to ignore; with slashes
	Lacks    []string // what it cannot do or ferrus cannot promise under it, a sentence each

	login  login
	launch func(Adapter, LaunchSpec) (Launch, error)
	read   func() lineReader // of its output
}

// All returns the adapters in the order of the documentation.
func All() []Adapter { return slices.Clone(table) }

// Find returns the adapter of that name. The error lists the names there are.
func Find(name string) (Adapter, error) {
	var names []string
	for _, a := range table {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Adapter{}, fmt.Errorf("there is no agent %q: it is one of %s", name, strings.Join(names, ", "))
}

// Launch says how to start the agent for a seat. The error is one of the seat, such as a headless one without a prompt,
// or a worker's without its run.
func (a Adapter) Launch(s LaunchSpec) (Launch, error) {
	if s.Headless && s.Prompt == "" {
		return Launch{}, fmt.Errorf("%s is started headless and told nothing", a.Name)
	}
	if s.Duty == Worker && (s.Run == "" || s.Name == "" || s.Output == "") {
		return Launch{}, fmt.Errorf("%s is started as a worker without a run (%q), a name (%q) or an output (%q)", a.Name, s.Run, s.Name, s.Output)
	}
	l, err := a.launch(a, s)
	if err != nil {
		return Launch{}, err
	}
	l.Env = append(inherited(s.Environ, l.Env), "FERRUS_AGENT="+s.Identity(a.Name), "FERRUS_PROJECT="+s.Root)
	if l.Dir == "" {
		l.Dir = s.Work
	}
	return l, nil
}

// Identity is role:agent:index, as the journal names the agent of the seat. The role of a worker is that in its pipeline,
// its index that of the attempt.
func (s LaunchSpec) Identity(agent string) string {
	role := string(s.Duty.Role())
	if s.Duty == Worker {
		role = s.Name
	}
	return fmt.Sprintf("%s:%s:%d", role, agent, max(1, s.Index))
}

// ServerName is what every client calls the MCP server of ferrus. There is one under one name, so that no session can
// have the tools of two roles.
const ServerName = "ferrus"

// server is the command line of the seat's MCP server.
func (a Adapter) server(s LaunchSpec) []string {
	argv, index := []string{s.Ferrus, "serve", "--role", string(s.Duty.Role())}, strconv.Itoa(max(1, s.Index))
	if s.Duty == Worker {
		argv = append(argv, "--run", s.Run, "--worker", s.Name, "--attempt", index, "--agent-name", a.Name)
	} else {
		argv = append(argv, "--agent-name", a.Name, "--agent-index", index, "--root", s.Root)
		if s.Branch != "" {
			argv = append(argv, "--branch", s.Branch)
		}
	}
	if a.Wait > 0 {
		argv = append(argv, "--wait", strconv.Itoa(a.Wait))
	}
	if s.Headless {
		argv = append(argv, "--headless")
	}
	return argv
}
