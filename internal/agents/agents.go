// Package agents describes the coding agents that ferrus can start. One row of a table for each
// agent says how to launch it with only the tools of ferrus and the permissions of its duty, and
// how to parse its output.
//
// The package starts no process and does not wait. It turns a [LaunchSpec] into a [Launch], and
// output into a [Reading]. internal/agents/process runs the processes. internal/agents/register
// edits the clients' own configuration files.
//
// Start reading at agents.go.
package agents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Duty is the purpose of an agent. It names the agent's slot, its runs and its prompt.
type Duty string

const (
	Executor   Duty = "executor"   // does the work: may edit files and run commands
	Consultant Duty = "consultant" // answers one consultation: reads only
	Reviewer   Duty = "reviewer"   // judges one submission: reads only
	Supervisor Duty = "supervisor" // leads a whole task beside a person: reads only
	Worker     Duty = "worker"     // writes one file of a run of a pipeline: may edit files and run commands, alone
)

// Duties returns the duties in a task. That of a worker is not among them: a worker works in a run
// of a pipeline, of which there may be many besides the task.
func Duties() []Duty { return []Duty{Executor, Consultant, Reviewer, Supervisor} }

// Role returns the role of an agent with the duty in a task. The role of a worker is not in any
// table of the task.
func (d Duty) Role() state.Role {
	switch d {
	case Executor:
		return state.Executor
	case Worker:
		return state.Role(Worker)
	}
	return state.Supervisor
}

// Writes reports whether the duty needs to edit files and run commands. Agents with other duties
// get no tool that could.
func (d Duty) Writes() bool { return d == Executor || d == Worker }

// A LaunchSpec says what an agent is to do, and where: in a task, or in a run of a pipeline.
type LaunchSpec struct {
	Duty     Duty
	Index    int      // distinguishes agents with the same name; from 1
	Model    string   // "" leaves the choice to the agent
	Args     []string // a person's additions to the agent's command line
	Command  string   // the shell command of the adapter "command"
	Prompt   string   // the first prompt; "" only when it is not headless
	Headless bool     // non-interactive: it must not ask for permission, and must end by itself
	Ferrus   string   // absolute path of the ferrus program, whose `serve` is the agent's MCP server
	Root     string   // absolute path of the project
	Branch   string   // of the machine; "" for the project's own
	Work     string   // absolute path of the folder to work in
	Scratch  string   // absolute path of a folder of ours for the files of a launch
	Environ  []string // the environment of the process that starts it, NAME=value
	Session  string   // the client's own name of a session to continue; "" begins a new one
	Fork     bool     // continue a copy of that session

	// Of an executor in a sandbox of ferrus.
	Ticket string // absolute path of the file by which its client reaches the server outside; "" for no sandbox
	Home   string // absolute path of its home folder

	Run    string // of a worker: absolute path of the folder of its run
	Name   string // of a worker: its role in the pipeline
	Output string // of a worker: absolute path of the one file it writes; in a dialogue, of dialogue.json
	Speaks bool   // of a worker: it has turns in a dialogue, for which it needs no shell and no network
}

// A Launch is everything that is needed to start the agent of a LaunchSpec.
type Launch struct {
	Argv  []string          // Argv[0] is a name to be looked up on the PATH of Env, or a path
	Env   []string          // the whole environment, NAME=value
	Dir   string            // the working directory
	Stdin string            // the complete standard input; "" for none
	Files map[string]string // absolute path to content; written before the start, readable by the user alone
}

// An Adapter is one agent that ferrus knows how to start.
type Adapter struct {
	Name     string   // as in ferrus.toml
	Title    string   // its product name
	Program  string   // to be found on PATH; "" for "command"
	Install  string   // the command that installs it
	LogIn    string   // the command by which a person logs in; "" where it has none that ferrus knows
	Wait     int      // how many seconds one tool call may wait under it
	Executes string   // what a headless executor may do without asking
	Reviews  string   // what the other duties of a task may do, headless or not
	Works    string   // what a headless worker of a pipeline may do without asking
	Speaks   string   // what such a worker may do that has turns in a dialogue
	Resumes  bool     // it can continue a session of its own, which its output names
	Forks    bool     // it can continue a copy of one
	Tokens   bool     // its output says how many it has used
	Dollars  bool     // its output says what they cost
	Settings []string // files of a project that make it run commands and that it always reads; with slashes
	Lacks    []string // its limits, and those of ferrus with it, one sentence each

	login  login
	launch func(Adapter, LaunchSpec) (Launch, error)
	read   func() lineReader // of its output
	heeds  int               // how many of the last lines of it make its reading; 0 means all
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

// Launch returns how to start the agent. The error is about s: for example a headless agent without
// a prompt, or a worker without a run.
func (a Adapter) Launch(s LaunchSpec) (Launch, error) {
	if s.Headless && s.Prompt == "" {
		return Launch{}, fmt.Errorf("%s is started headless without a prompt", a.Name)
	}
	if s.Duty == Worker && (s.Run == "" || s.Name == "" || s.Output == "") {
		return Launch{}, fmt.Errorf("%s is started as a worker without a run (%q), a name (%q) or an output (%q)", a.Name, s.Run, s.Name, s.Output)
	}
	if err := a.checkSession(s); err != nil {
		return Launch{}, err
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

// ServerEnv returns the environment of an agent's MCP server that is not started by its client. A server has the variables of a
// database, which its agent does not get: it writes the journal.
func (s LaunchSpec) ServerEnv(agent string) []string {
	return append(outsideOf(s.Environ), "FERRUS_AGENT="+s.Identity(agent), "FERRUS_PROJECT="+s.Root)
}

// sessionForm is the form of the names that clients give to their sessions. None can be an option.
var sessionForm = safetext.NewForm(`^[0-9A-Za-z][0-9A-Za-z_-]*$`, 8, 64)

// checkSession refuses a session that the agent cannot continue.
func (a Adapter) checkSession(s LaunchSpec) error {
	switch {
	case s.Session == "" && s.Fork:
		return fmt.Errorf("%s is to continue a copy of no session", a.Name)
	case s.Session == "":
		return nil
	case !a.Resumes || s.Fork && !a.Forks:
		return fmt.Errorf("%s cannot continue the session %.80q", a.Name, s.Session)
	case !IsSession(s.Session):
		return fmt.Errorf("%.80q is not the name of a session", s.Session)
	}
	return nil
}

// IsSession reports whether a name can be that of a client's session.
func IsSession(name string) bool { return sessionForm.MatchString(name) }

// Identity returns role:agent:index, the agent's name in the journal. A worker's role is its role
// in the pipeline, its index the number of the attempt.
func (s LaunchSpec) Identity(agent string) string {
	role := string(s.Duty.Role())
	if s.Duty == Worker {
		role = s.Name
	}
	return fmt.Sprintf("%s:%s:%d", role, agent, max(1, s.Index))
}

// ServerName is the name of the MCP server of ferrus in every client. There is only one name, so
// that no session can have the tools of two roles.
const ServerName = "ferrus"

// server returns the command line that the agent's client starts as its MCP server. In a sandbox that is a program that joins it to
// the one of [Adapter.Server].
func (a Adapter) server(s LaunchSpec) []string {
	if s.Ticket != "" {
		return []string{s.Ferrus, "connect", s.Ticket}
	}
	return a.Server(s)
}

// Server returns the command line of the agent's MCP server, which cannot run in a sandbox.
func (a Adapter) Server(s LaunchSpec) []string {
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
