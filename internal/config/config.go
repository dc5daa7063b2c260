// Package config reads ferrus.toml: the checks of a project, its budgets, its agents, and the
// settings of its pipelines. One table (keys.go) lists every key with its default, its bounds and
// its comment. The parser, the example file, the explanations and the reference page all use that
// table.
//
// [Propose] suggests how a project is set up and checked, from the files in it. The tools that it knows are a table
// (proposetable.go). Which of its proposals a person takes is the matter of internal/cli/setup.
//
// The package runs nothing. internal/engine/checks runs the commands, internal/lease uses the terms,
// internal/conductor starts the agents.
//
// Start reading at keys.go.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// FileName is the name of the file in a project's root.
const FileName = "ferrus.toml"

// maxFile bounds what Load reads and Parse accepts, in bytes.
const maxFile = 64 << 10

// Config is ferrus.toml with the defaults filled in. The zero Config is not usable; start from
// Default.
type Config struct {
	Checks Checks
	Limits Limits
	Day    Day // of [limits], too
	Server Server
	Lease  Lease
	Notify Notify
	HQ     HQ

	Channels Channels

	Branches  Branches
	Pipelines Pipelines
	Deliver   Deliver

	Rules []rules.Rule // [[rules]] in the order of the file, without the defaults

	project *projectValues  // the values of the file; nil unless a person's own configuration overrides them
	lent    map[string]bool // tables whose arguments, and keys whose value, come from the person's configuration

	ruleLines []map[string]int // of each rule: "" and its keys, as rules.Error names them

	lines map[string]int // key as written in the table -> its line in the file
}

// projectValues are the values of a project's file that a person's own configuration overrides.
type projectValues struct {
	HQ       HQ
	Channels Channels
}

// ProjectChannels returns the part of Channels that the project's file sets and that applies.
func (c Config) ProjectChannels() Channels {
	project := c.Channels
	if c.lent["notify.urls"] {
		project.URLs = nil
	}
	if c.lent["notify.desktop"] {
		project.Desktop = false
	}
	return project
}

// Checks is [checks]: the gate that work must pass before a review. The json tags are the format of
// the frozen gate in the journal.
type Checks struct {
	// Commands run in order by the shell. Nil: not configured, so the gate cannot run. Empty but
	// not nil: a person's explicit choice that every check passes.
	Commands    []string          `json:"commands"`
	TimeoutSecs int               `json:"timeout_secs"` // for each command
	Ignore      []string          `json:"ignore"`       // globs outside the fingerprint
	Where       string            `json:"where"`        // InWorktree or InClean
	Sandbox     string            `json:"sandbox"`      // NoSandbox, AnySandbox or the name of a mechanism
	Network     bool              `json:"network"`      // the commands have a network in the sandbox
	Read        []string          `json:"read"`         // absolute paths that they read in the sandbox, beside the tools
	Env         map[string]string `json:"env"`          // added to the commands' environment
	EnvDeny     []string          `json:"env_deny"`     // name patterns taken from it
	MaxLogMB    int               `json:"max_log_mb"`
}

// The values of Checks.Where. A task that an older ferrus froze has InWorktree.
const (
	InWorktree = "worktree"
	InClean    = "clean"
)

// The values of Checks.Sandbox and Sandbox.Mode beside the names of mechanisms, which are those of internal/platform/sandbox. A task that an
// older ferrus froze has NoSandbox.
const (
	NoSandbox   = "off"
	AnySandbox  = "on"   // the strongest mechanism that holds
	AutoSandbox = "auto" // that for an executor that can work in it, and for the checks of what such an executor wrote; otherwise none
)

// Sandboxed reports whether the commands run in a sandbox, or may have to.
func (c Checks) Sandboxed() bool { return sandboxed(c.Sandbox) }

func sandboxed(mode string) bool { return mode != "" && mode != NoSandbox }

// Clean reports whether the gate runs in a private checkout.
func (c Checks) Clean() bool { return c.Where == InClean }

// Limits is [limits]: the budgets of a task. Each is at least 1, except those of a whole task, for
// which 0 means no limit.
type Limits struct {
	MaxCheckRetries       int `json:"max_check_retries"`
	MaxReviewCycles       int `json:"max_review_cycles"`
	MaxFeedbackLines      int `json:"max_feedback_lines"`
	MaxExecutorDispatches int `json:"max_executor_dispatches"`
	MaxSameFailure        int `json:"max_same_failure"`
	MaxProgressNotes      int `json:"max_progress_notes"`
	MaxMessages           int `json:"max_messages"`
	MaxTaskMinutes        int `json:"max_task_minutes"`
	MaxTaskTokens         int `json:"max_task_tokens"`
	MaxTaskDollars        int `json:"max_task_dollars"`
	MaxDelegates          int `json:"max_delegates"` // 0: the tool delegate does not exist
}

// Server is [server].
type Server struct {
	WaitTimeoutSecs int
}

// Lease is [lease]. HeartbeatIntervalSecs is less than TTLSecs.
type Lease struct {
	TTLSecs               int
	HeartbeatIntervalSecs int
	MaxSilenceSecs        int
}

// Notify is the part of [notify] that is frozen with a task. An empty Command notifies nobody.
type Notify struct {
	Command string `json:"command"`
}

// Channels is the part of [notify] that is not frozen: URLs are secrets, which the journal must not
// have. What ferrus.toml says now counts, if a person has agreed to it.
type Channels struct {
	URLs    []string // each a URL, or the name of a variable as Variable reads it
	Desktop bool
}

// The values of HQ.Continue. A task that an older ferrus froze has Fresh.
const (
	Fresh  = "fresh"
	Native = "native"
)

// HQ is [hq.supervisor] and [hq.executor]: the agents that the conductor starts.
type HQ struct {
	Supervisor Agent  `json:"supervisor"`
	Executor   Agent  `json:"executor"`
	Continue   string `json:"continue,omitempty"` // of the executor: Fresh or Native; "" is Fresh

	Sandbox Sandbox `json:"sandbox,omitzero"` // of the executor

	SameModel bool `json:"same_model,omitempty"` // a fallback may make an agent the reviewer that has written
}

// Sandbox is the sandbox of an agent.
type Sandbox struct {
	Mode  string   `json:"mode"`  // NoSandbox, AnySandbox or the name of a mechanism; "" is NoSandbox
	Read  []string `json:"read"`  // absolute paths that it reads, beside the tools
	Write []string `json:"write"` // absolute folders that it writes, beside its work tree
}

// On reports whether the agent runs in a sandbox, or does where it can.
func (s Sandbox) On() bool { return sandboxed(s.Mode) }

// Agent names an adapter, its model, and further arguments of its command line. With an empty Model
// the agent chooses. Command is for the adapter of that name. Fallback names the agents that work in
// its place while it cannot, in their order, each AGENT or AGENT:MODEL.
type Agent struct {
	Agent    string   `json:"agent"`
	Model    string   `json:"model"`
	Args     []string `json:"args"`
	Command  string   `json:"command"`
	Fallback []string `json:"fallback,omitempty"`
}

// List returns the agents that may work: a, then those of its fallback. Arguments are for the client
// of a alone. None of them has a fallback.
func (a Agent) List() []Agent {
	names := a.Fallback
	a.Fallback = nil
	list := []Agent{a}
	for _, name := range names {
		next := Agent{Args: []string{}, Command: a.Command}
		if next.Agent, next.Model, _ = strings.Cut(name, ":"); next.Agent == a.Agent {
			next.Args = a.Args
		}
		list = append(list, next)
	}
	return list
}

// The values of Branches.OnApprove.
const (
	Keep  = "keep"
	Merge = "merge"
)

// Branches is [branches]: settings of tasks on branches.
type Branches struct {
	Setup     string // for the shell, in a new work tree; blank for none
	OnApprove string // Keep or Merge
	Score     string // for the shell, prints the score of checked work; blank for none
}

// Pipelines is [pipelines]: two folders below the project's, neither within the other, with
// slashes. The json tags are the format of the frozen settings in a run's journal.
type Pipelines struct {
	TmpDir     string `json:"tmp_dir"`     // of the runs that are going on
	ArchiveDir string `json:"archive_dir"` // of those that are over

	Allow []string `json:"allow"` // pipelines that an agent may have started without a person
}

// The values of Deliver.To.
const (
	ToStdout  = "stdout"
	ToFile    = "file"
	ToCommand = "command"
)

// Deliver is [deliver]: the target of a pipeline's result. The json tags are the format of the
// frozen settings in a run's journal.
type Deliver struct {
	To          string `json:"to"`      // ToStdout, ToFile or ToCommand
	File        string `json:"file"`    // from the project's folder; {pipeline} and {run} are still in it
	Command     string `json:"command"` // for the shell; not blank with ToCommand
	TimeoutSecs int    `json:"timeout_secs"`
}

// Timeout returns the time limit of one check command.
func (c Checks) Timeout() time.Duration { return seconds(c.TimeoutSecs) }

// WaitTimeout returns how long one waiting tool call lasts before it answers "timeout".
func (s Server) WaitTimeout() time.Duration { return seconds(s.WaitTimeoutSecs) }

// TTL returns how long a lease lasts after its last renewal.
func (l Lease) TTL() time.Duration { return seconds(l.TTLSecs) }

// Heartbeat returns the time between two renewals by the server.
func (l Lease) Heartbeat() time.Duration { return seconds(l.HeartbeatIntervalSecs) }

// MaxSilence returns how long the server renews a lease for a client that calls no tool. Over HTTP
// it is the length of the lease.
func (l Lease) MaxSilence() time.Duration { return seconds(l.MaxSilenceSecs) }

// Timeout returns how long the sending of a result may take.
func (d Deliver) Timeout() time.Duration { return seconds(d.TimeoutSecs) }

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// Default returns the configuration of a project without ferrus.toml. The caller owns its slices
// and maps.
func Default() Config {
	var c Config
	for _, k := range keys {
		switch p := k.field(&c).(type) {
		case *int:
			*p = k.def.(int)
		case *bool:
			*p = k.def.(bool)
		case *string:
			*p = k.def.(string)
		case *[]string:
			*p = slices.Clone(k.def.([]string))
		case *map[string]string:
			*p = maps.Clone(k.def.(map[string]string))
		}
	}
	return c
}

// Load reads the file at path. A missing file means the defaults; every other error names the path.
// A link is refused, even to a file of the project: its target could change without the file that
// was agreed to. git does not follow its own configuration files in a work tree either.
func Load(path string) (Config, error) {
	data, err := rootfs.ReadFile(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Default(), nil
	case errors.Is(err, rootfs.ErrLink):
		return Config{}, fmt.Errorf("read configuration: %s is a symbolic link, which ferrus does not follow; put a copy of the file in its place", path)
	case errors.Is(err, rootfs.ErrTooLarge):
		return Config{}, tooLarge(path)
	case err != nil:
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, data)
}
