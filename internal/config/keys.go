package config

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// maxNumber is the greatest value of most numbers in ferrus.toml: far from
// overflowing a time.Duration or a count of bytes.
const maxNumber = 1_000_000

// The longest durations, in seconds. One tool call of a day is waited for by no
// client.
const (
	maxSecs = 24 * 60 * 60
	maxWait = 60 * 60
)

// agentNames are the agents that ferrus can start.
func agentNames() []string {
	var names []string
	for _, a := range agents.All() {
		names = append(names, a.Name)
	}
	return names
}

// key is one line of ferrus.toml. The type of def is the type of the key: int,
// string, []string or map[string]string. Numbers run from 1 to maxNumber, those
// that mean nothing when they are 0 from there.
type key struct {
	name    string
	def     any
	sample  any      // shown commented out where there is no default
	filled  bool     // a string that must not be blank
	folder  bool     // a string that must name a folder below the project's
	globs   bool     // a list of patterns, each well-formed
	holes   []string // the placeholders that a string may have; nil: braces mean nothing
	words   []string // all that a string may be; nil when it is free
	most    int      // the greatest number; maxNumber when 0
	comment string
	does    string            // what the value makes run, or which right it widens, in one sentence; "": neither
	field   func(*Config) any // where the value stands: a pointer to def's type
}

// oldNames are keys of upstream ferrus that are still read.
var oldNames = map[string]string{
	"limits.wait_timeout_secs": "server.wait_timeout_secs",
}

var keys = []key{
	{
		name: "checks.commands", def: []string(nil), sample: []string{"go vet ./...", "go test ./..."},
		comment: "The gate: shell commands, all of which must exit 0. No default; [] is the choice that everything passes.",
		does:    "Runs with your rights whenever work is checked, submitted or merged.",
		field:   func(c *Config) any { return &c.Checks.Commands },
	},
	{
		name: "checks.timeout_secs", def: 1800, most: maxSecs,
		comment: "How many seconds each command may run; one that takes longer has failed.",
		field:   func(c *Config) any { return &c.Checks.TimeoutSecs },
	},
	{
		name: "checks.ignore", def: []string{}, globs: true,
		comment: "Globs of files whose change does not make a check stale. Files ignored by git never do.",
		does:    "Lets these files change after a check without another check.",
		field:   func(c *Config) any { return &c.Checks.Ignore },
	},
	{
		name: "checks.where", def: InWorktree, words: []string{InWorktree, InClean},
		comment: "Where the gate runs: in the work tree, or in a private checkout of exactly the files that are judged.",
		does:    "Decides whether the checks run in the work tree or in a private checkout.",
		field:   func(c *Config) any { return &c.Checks.Where },
	},
	{
		name: "checks.env", def: map[string]string{},
		comment: "Variables added to the environment of the commands.",
		does:    "Sets environment variables of the check commands.",
		field:   func(c *Config) any { return &c.Checks.Env },
	},
	{
		name: "checks.env_deny", def: []string{"ANTHROPIC_*", "OPENAI_*", "*_API_KEY", "*_TOKEN"}, globs: true,
		comment: "Name patterns of variables that the commands do not see: the agents' own secrets.",
		does:    "Replaces the list of your variables, such as API keys, that the check commands do not see.",
		field:   func(c *Config) any { return &c.Checks.EnvDeny },
	},
	{
		name: "checks.max_log_mb", def: 50,
		comment: "How many MiB of output the log of one check keeps; beyond that its head and its tail.",
		field:   func(c *Config) any { return &c.Checks.MaxLogMB },
	},
	{
		name: "limits.max_check_retries", def: 20,
		comment: "The red check that fails the task: 20 means the twentieth since the last green one or review.",
		field:   func(c *Config) any { return &c.Limits.MaxCheckRetries },
	},
	{
		name: "limits.max_review_cycles", def: 3,
		comment: "The rejection that fails the task: 3 means the third.",
		field:   func(c *Config) any { return &c.Limits.MaxReviewCycles },
	},
	{
		name: "limits.max_feedback_lines", def: 30,
		comment: "How many last lines of each failing command the executor is shown; the whole log is on disk.",
		field:   func(c *Config) any { return &c.Limits.MaxFeedbackLines },
	},
	{
		name: "limits.max_executor_dispatches", def: 6,
		comment: "How often the conductor starts an agent for one piece of work before a person is asked.",
		field:   func(c *Config) any { return &c.Limits.MaxExecutorDispatches },
	},
	{
		name: "limits.max_same_failure", def: 5,
		comment: "After the same failure so many times in a row a person is asked.",
		field:   func(c *Config) any { return &c.Limits.MaxSameFailure },
	},
	{
		name: "limits.max_progress_notes", def: 1000,
		comment: "How many progress notes the agents of one task may write; each stays in the journal for good.",
		field:   func(c *Config) any { return &c.Limits.MaxProgressNotes },
	},
	{
		name: "limits.max_task_minutes", def: 0,
		comment: "How many minutes the agents of one task may run, together, before a person is asked. 0: no limit.",
		field:   func(c *Config) any { return &c.Limits.MaxTaskMinutes },
	},
	{
		name: "limits.max_task_tokens", def: 0, most: 1_000_000_000,
		comment: "The same in tokens read and written, as far as the agents report them. 0: no limit.",
		field:   func(c *Config) any { return &c.Limits.MaxTaskTokens },
	},
	{
		name: "limits.max_task_dollars", def: 0,
		comment: "The same in dollars, as far as the agents report them. 0: no limit.",
		field:   func(c *Config) any { return &c.Limits.MaxTaskDollars },
	},
	{
		name: "server.wait_timeout_secs", def: 45, most: maxWait,
		comment: "How many seconds a waiting tool call lasts; less than the time limit of every client in use.",
		field:   func(c *Config) any { return &c.Server.WaitTimeoutSecs },
	},
	{
		name: "lease.ttl_secs", def: 90, most: maxSecs,
		comment: "How many seconds after its last renewal a lease runs out and the work may be taken over.",
		field:   func(c *Config) any { return &c.Lease.TTLSecs },
	},
	{
		name: "lease.heartbeat_interval_secs", def: 30, most: maxSecs,
		comment: "The seconds between two renewals by the server; less than ttl_secs and max_silence_secs.",
		field:   func(c *Config) any { return &c.Lease.HeartbeatIntervalSecs },
	},
	{
		name: "lease.max_silence_secs", def: 1800, most: maxSecs,
		comment: "After so many seconds without a tool call the server stops renewing. Over HTTP: the length of the lease.",
		field:   func(c *Config) any { return &c.Lease.MaxSilenceSecs },
	},
	{
		name: "notify.command", def: "",
		comment: "A shell command to run when a person is waited for. Empty: none.",
		does:    "Runs with your rights whenever ferrus waits for you.",
		field:   func(c *Config) any { return &c.Notify.Command },
	},
	{
		name: "hq.supervisor.agent", def: "claude-code", words: agentNames(),
		comment: "The agent that reviews and is consulted.",
		does:    "Decides which program is started to review work.",
		field:   func(c *Config) any { return &c.HQ.Supervisor.Agent },
	},
	{
		name: "hq.supervisor.model", def: "",
		comment: "Its model. Empty: the agent's own choice.",
		does:    "Decides which model reviews work.",
		field:   func(c *Config) any { return &c.HQ.Supervisor.Model },
	},
	{
		name: "hq.supervisor.args", def: []string{},
		comment: "Arguments added to its command line: model and effort here, others in your own config.toml.",
		does:    "Adds arguments to the command line of the agent that reviews work.",
		field:   func(c *Config) any { return &c.HQ.Supervisor.Args },
	},
	{
		name: "hq.supervisor.command", def: "",
		comment: "With agent = \"command\": the shell command to run. ferrus agents explains its placeholders.",
		does:    "With agent = \"command\": runs with your rights to review work.",
		field:   func(c *Config) any { return &c.HQ.Supervisor.Command },
	},
	{
		name: "hq.executor.agent", def: "codex", words: agentNames(),
		comment: "The agent that does the work.",
		does:    "Decides which program is started to do the work.",
		field:   func(c *Config) any { return &c.HQ.Executor.Agent },
	},
	{
		name: "hq.executor.model", def: "",
		comment: "Its model. Empty: the agent's own choice.",
		does:    "Decides which model does the work.",
		field:   func(c *Config) any { return &c.HQ.Executor.Model },
	},
	{
		name: "hq.executor.args", def: []string{},
		comment: "Arguments added to its command line: model and effort here, others in your own config.toml.",
		does:    "Adds arguments to the command line of the agent that does the work.",
		field:   func(c *Config) any { return &c.HQ.Executor.Args },
	},
	{
		name: "hq.executor.command", def: "",
		comment: "With agent = \"command\": the shell command to run. ferrus agents explains its placeholders.",
		does:    "With agent = \"command\": runs with your rights to do the work.",
		field:   func(c *Config) any { return &c.HQ.Executor.Command },
	},
	{
		name: "branches.setup", def: "",
		comment: "A shell command for each new work tree, such as npm ci: it has nothing of what git ignores. Empty: none.",
		does:    "Runs with your rights in every new work tree.",
		field:   func(c *Config) any { return &c.Branches.Setup },
	},
	{
		name: "branches.on_approve", def: Keep, words: []string{Keep, Merge},
		comment: "What ferrus run --parallel does with approved work: keep it on its branch, or merge it.",
		does:    "With \"merge\": merges approved work into your files without asking you.",
		field:   func(c *Config) any { return &c.Branches.OnApprove },
	},
	{
		name: "pipelines.tmp_dir", def: ".ferrus/pipeline-tmp", folder: true,
		comment: "The folder of the runs of pipelines that are going on, from the project's folder. No part of it may be a link.",
		field:   func(c *Config) any { return &c.Pipelines.TmpDir },
	},
	{
		name: "pipelines.archive_dir", def: ".ferrus/memory/pipelines", folder: true,
		comment: "The folder of the runs that are over, from the project's folder; not within the other, nor around it.",
		field:   func(c *Config) any { return &c.Pipelines.ArchiveDir },
	},
	{
		name: "deliver.to", def: ToStdout, words: []string{ToStdout, ToFile, ToCommand},
		comment: "Where the result of a pipeline goes beside its own folder.",
		does:    "Decides where the result of a pipeline goes.",
		field:   func(c *Config) any { return &c.Deliver.To },
	},
	{
		name: "deliver.file", def: "results/{run}.md", filled: true, holes: []string{"{pipeline}", "{run}"},
		comment: "With to = \"file\": the file, from the project's folder. {pipeline} and {run} are replaced by their names.",
		does:    "Decides which file the result of a pipeline is written to.",
		field:   func(c *Config) any { return &c.Deliver.File },
	},
	{
		name: "deliver.command", def: "",
		comment: "With to = \"command\": the shell command that sends the result.",
		does:    "Runs with your rights when a pipeline has a result.",
		field:   func(c *Config) any { return &c.Deliver.Command },
	},
	{
		name: "deliver.timeout_secs", def: 60, most: maxSecs,
		comment: "How many seconds that command may take; then nobody knows whether the result arrived.",
		field:   func(c *Config) any { return &c.Deliver.TimeoutSecs },
	},
}

// bounds are the least and the greatest value of a number.
func (k key) bounds() (least, most int) {
	least, most = 1, k.most
	if k.def == 0 {
		least = 0
	}
	if most == 0 {
		most = maxNumber
	}
	return least, most
}

// table and last split "hq.executor.agent" into "hq.executor" and "agent".
func (k key) table() string { return k.name[:strings.LastIndexByte(k.name, '.')] }
func (k key) last() string  { return k.name[strings.LastIndexByte(k.name, '.')+1:] }

func (k key) isMap() bool { _, ok := k.def.(map[string]string); return ok }

func find(name string) (key, bool) {
	if now, ok := oldNames[name]; ok {
		name = now
	}
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// children lists, in the order of the table, the names that may stand directly
// under path; "" is the top of the file.
func children(path string) []string {
	var names []string
	for _, k := range keys {
		rest, ok := strings.CutPrefix("."+k.name, "."+path+".")
		if path == "" {
			rest, ok = k.name, true
		}
		name, _, _ := strings.Cut(rest, ".")
		if ok && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	return names
}
