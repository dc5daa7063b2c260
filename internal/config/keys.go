package config

import "strings"

// maxNumber is the greatest value of most numbers in ferrus.toml: far from overflowing a
// time.Duration or a count of bytes.
const maxNumber = 1_000_000

// The longest durations, in seconds. No client waits a day for one tool call.
const (
	maxSecs = 24 * 60 * 60
	maxWait = 60 * 60
)

// A key is one line of ferrus.toml. The type of def is the type of the key: int, bool, string,
// []string or map[string]string. Numbers run from 1 to maxNumber, or from 0 if 0 means no limit.
type key struct {
	name    string
	def     any
	sample  any      // example, shown commented out for a key without a default
	filled  bool     // a string that must not be blank
	folder  bool     // a string that must name a folder below the project's
	zone    bool     // a string that is "" or names a time zone
	globs   bool     // a list of patterns, each well-formed
	secret  bool     // a list of URLs, each a secret or the name of a variable that has it
	holes   []string // allowed placeholders of a string; nil: braces have no meaning
	words   []string // allowed values of a string; nil: any
	most    int      // the greatest number; maxNumber when 0
	comment string
	does    string            // which command it runs or right it widens, in one sentence; "": neither
	field   func(*Config) any // the value in a Config, as a pointer to def's type
}

// oldNames are keys of upstream ferrus that are still read.
var oldNames = map[string]string{
	"limits.wait_timeout_secs": "server.wait_timeout_secs",
}

// sandboxes are the values of the sandbox keys.
var sandboxes = []string{NoSandbox, AutoSandbox, AnySandbox, "bwrap", "landlock"}

var keys = []key{
	{
		name: "checks.commands", def: []string(nil), sample: []string{"go vet ./...", "go test ./..."},
		comment: "The gate: shell commands that must all exit 0. No default; [] means that every check passes.",
		does:    "Runs with your rights whenever work is checked, submitted or merged.",
		field:   func(c *Config) any { return &c.Checks.Commands },
	},
	{
		name: "checks.timeout_secs", def: 1800, most: maxSecs,
		comment: "Time limit of each command in seconds; a command that takes longer fails.",
		field:   func(c *Config) any { return &c.Checks.TimeoutSecs },
	},
	{
		name: "checks.ignore", def: []string{}, globs: true,
		comment: "Globs of files whose change does not outdate a check. Files that git ignores never do.",
		does:    "Lets these files change after a check without another check.",
		field:   func(c *Config) any { return &c.Checks.Ignore },
	},
	{
		name: "checks.where", def: InWorktree, words: []string{InWorktree, InClean},
		comment: "Where the gate runs: in the work tree, or in a private checkout of exactly the checked files.",
		does:    "Decides whether the checks run in the work tree or in a private checkout.",
		field:   func(c *Config) any { return &c.Checks.Where },
	},
	{
		name: "checks.sandbox", def: NoSandbox, words: sandboxes,
		comment: "The sandbox of the commands: off, auto (when an executor has one), on, bwrap or landlock. See docs/sandbox.md.",
		does:    "Decides in which sandbox the check commands run.",
		field:   func(c *Config) any { return &c.Checks.Sandbox },
	},
	{
		name: "checks.network", def: false,
		comment: "In the sandbox: let the commands use the network. landlock needs true.",
		does:    "Lets the check commands use the network from their sandbox.",
		field:   func(c *Config) any { return &c.Checks.Network },
	},
	{
		name: "checks.read", def: []string{},
		comment: "In the sandbox: more absolute paths that the commands can read.",
		does:    "Lets the check commands read more paths from their sandbox.",
		field:   func(c *Config) any { return &c.Checks.Read },
	},
	{
		name: "checks.env", def: map[string]string{},
		comment: "Variables added to the environment of the commands; your own PG* do not reach them.",
		does:    "Sets environment variables of the check commands.",
		field:   func(c *Config) any { return &c.Checks.Env },
	},
	{
		name: "checks.env_deny", def: []string{"ANTHROPIC_*", "OPENAI_*", "*_API_KEY", "*_TOKEN"}, globs: true,
		comment: "Name patterns of variables that are hidden from the commands: the agents' own secrets.",
		does:    "Replaces the list of your variables, such as API keys, that are hidden from the check commands.",
		field:   func(c *Config) any { return &c.Checks.EnvDeny },
	},
	{
		name: "checks.max_log_mb", def: 50,
		comment: "Size limit of the log of one check in MiB; of longer output the head and the tail stay.",
		field:   func(c *Config) any { return &c.Checks.MaxLogMB },
	},
	{
		name: "limits.max_check_retries", def: 20,
		comment: "The failed check that fails the task: 20 means the 20th since the last passed one or review.",
		field:   func(c *Config) any { return &c.Limits.MaxCheckRetries },
	},
	{
		name: "limits.max_review_cycles", def: 3,
		comment: "The rejection that fails the task: 3 means the third.",
		field:   func(c *Config) any { return &c.Limits.MaxReviewCycles },
	},
	{
		name: "limits.max_feedback_lines", def: 30,
		comment: "How many last lines of each failed command the executor gets; the complete log is on disk.",
		field:   func(c *Config) any { return &c.Limits.MaxFeedbackLines },
	},
	{
		name: "limits.max_executor_dispatches", def: 6,
		comment: "How often the conductor starts an agent for one piece of work before ferrus asks a person.",
		field:   func(c *Config) any { return &c.Limits.MaxExecutorDispatches },
	},
	{
		name: "limits.max_same_failure", def: 5,
		comment: "After so many equal failures in a row ferrus asks a person.",
		field:   func(c *Config) any { return &c.Limits.MaxSameFailure },
	},
	{
		name: "limits.max_progress_notes", def: 1000,
		comment: "How many progress notes the agents of one task may write; each stays in the journal.",
		field:   func(c *Config) any { return &c.Limits.MaxProgressNotes },
	},
	{
		name: "limits.max_messages", def: 20,
		comment: "How many messages the agents of one task may send to each other.",
		field:   func(c *Config) any { return &c.Limits.MaxMessages },
	},
	{
		name: "limits.max_task_minutes", def: 0,
		comment: "How many minutes the agents of one task may run, together, before ferrus asks a person. 0: no limit.",
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
		name: "limits.max_day_minutes", def: 0,
		comment: "After so many minutes of agents in a day none starts before midnight, unless you allow it. 0: no limit.",
		does:    "Limits how long agents run in a day.",
		field:   func(c *Config) any { return &c.Day.Minutes },
	},
	{
		name: "limits.max_day_tokens", def: 0, most: 1_000_000_000,
		comment: "The same in tokens read and written, as far as the agents report them. 0: no limit.",
		does:    "Limits how many tokens agents use in a day.",
		field:   func(c *Config) any { return &c.Day.Tokens },
	},
	{
		name: "limits.max_day_dollars", def: 0,
		comment: "The same in dollars, as far as the agents report them. 0: no limit.",
		does:    "Limits how many dollars agents cost in a day.",
		field:   func(c *Config) any { return &c.Day.Dollars },
	},
	{
		name: "limits.day_zone", def: "", zone: true,
		comment: "The time zone of these days, such as \"Europe/Berlin\". Empty: that of the computer.",
		does:    "Decides when a day of these limits begins.",
		field:   func(c *Config) any { return &c.Day.Zone },
	},
	{
		name: "limits.max_delegates", def: 0, most: 32,
		comment: "How many parts of one task its executor may give to other agents (the tool delegate). 0: the tool does not exist.",
		field:   func(c *Config) any { return &c.Limits.MaxDelegates },
	},
	{
		name: "server.wait_timeout_secs", def: 45, most: maxWait,
		comment: "How many seconds a waiting tool call lasts; less than the time limit of every client in use.",
		field:   func(c *Config) any { return &c.Server.WaitTimeoutSecs },
	},
	{
		name: "lease.ttl_secs", def: 90, most: maxSecs,
		comment: "How many seconds after its last renewal a lease expires and the task may be taken over.",
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
		comment: "A shell command that ferrus runs when it waits for your answer. Empty: none.",
		does:    "Runs with your rights whenever ferrus waits for you.",
		field:   func(c *Config) any { return &c.Notify.Command },
	}, {
		name: "notify.urls", def: []string{}, secret: true,
		comment: "Further channels, as URLs of shoutrrr; secrets come from the environment: \"$FERRUS_NOTIFY_URL\".",
		does:    "Sends your questions and the titles of your tasks to these addresses.",
		field:   func(c *Config) any { return &c.Channels.URLs },
	},
	{
		name: "notify.desktop", def: false,
		comment: "Whether the desktop shows notifications, by notify-send, osascript or PowerShell.",
		does:    "Runs the desktop's program for notifications.",
		field:   func(c *Config) any { return &c.Channels.Desktop },
	},

	{
		name: "hq.supervisor.agent", def: "claude-code", words: agentNames(),
		comment: "The agent that reviews work and answers consultations.",
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
		name: "hq.supervisor.fallback", def: []string{}, field: func(c *Config) any { return &c.HQ.Supervisor.Fallback },
		comment: "Agents that work while it cannot (a limit, no login, no start), in order: \"codex\", \"claude-code:opus\".",
		does:    "Decides which other programs are started to review work.",
	},
	{
		name: "hq.supervisor.same_model", def: false, field: func(c *Config) any { return &c.HQ.SameModel },
		comment: "Let a fallback make an agent the reviewer of work that its own client and model wrote.",
		does:    "Lets an agent review what its own client and model wrote.",
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
		name: "hq.executor.fallback", def: []string{}, field: func(c *Config) any { return &c.HQ.Executor.Fallback },
		comment: "Agents that work while it cannot (a limit, no login, no start), in order: \"codex\", \"claude-code:opus\".",
		does:    "Decides which other programs are started to do the work.",
	},
	{
		name: "hq.executor.continue", def: Fresh, words: []string{Fresh, Native},
		comment: "How the executor continues after a rejection or an answer: fresh, or in its client's own session.",
		field:   func(c *Config) any { return &c.HQ.Continue },
	},
	{
		name: "hq.executor.sandbox", def: NoSandbox, words: sandboxes,
		comment: "The sandbox of executors: off, auto (where one works), on (always one), bwrap or landlock. See docs/sandbox.md.",
		does:    "Decides in which sandbox the agent runs that does the work.",
		field:   func(c *Config) any { return &c.HQ.Sandbox.Mode },
	},
	{
		name: "hq.executor.read", def: []string{},
		comment: "In the sandbox: more absolute paths that the executor can read.",
		does:    "Lets the agent that does the work read more paths from its sandbox.",
		field:   func(c *Config) any { return &c.HQ.Sandbox.Read },
	},
	{
		name: "hq.executor.write", def: []string{},
		comment: "In the sandbox: more absolute folders that the executor can write.",
		does:    "Lets the agent that does the work write more folders from its sandbox.",
		field:   func(c *Config) any { return &c.HQ.Sandbox.Write },
	},
	{
		name: "branches.setup", def: "",
		comment: "A shell command for each new work tree, such as npm ci. Ignored files: see .worktreeinclude. Empty: none.",
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
		name: "branches.score", def: "",
		comment: "A shell command that scores checked work: its last line is a number, higher is better. Empty: none.",
		does:    "Runs with your rights to score work, and decides which attempt select --best takes.",
		field:   func(c *Config) any { return &c.Branches.Score },
	},
	{
		name: "pipelines.tmp_dir", def: ".ferrus/pipeline-tmp", folder: true,
		comment: "The folder of active runs of pipelines, relative to the project. No part of it may be a link.",
		field:   func(c *Config) any { return &c.Pipelines.TmpDir },
	},
	{
		name: "pipelines.archive_dir", def: ".ferrus/memory/pipelines", folder: true,
		comment: "The folder of finished runs, relative to the project; neither folder may contain the other.",
		field:   func(c *Config) any { return &c.Pipelines.ArchiveDir },
	},
	{
		name: "pipelines.allow", def: []string{},
		comment: "Pipelines that ferrus tick starts when an agent has queued them. Others wait until you start them.",
		does:    "Lets agents have these pipelines started without asking you.",
		field:   func(c *Config) any { return &c.Pipelines.Allow },
	},
	{
		name: "deliver.to", def: ToStdout, words: []string{ToStdout, ToFile, ToCommand},
		comment: "Where the result of a pipeline is sent, besides its own folder.",
		does:    "Decides where the result of a pipeline goes.",
		field:   func(c *Config) any { return &c.Deliver.To },
	},
	{
		name: "deliver.file", def: "results/{run}.md", filled: true, holes: []string{"{pipeline}", "{run}"},
		comment: "With to = \"file\": the file, relative to the project. {pipeline} and {run} are replaced by their names.",
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
		comment: "Time limit of that command in seconds; after it, it is unknown whether the result arrived.",
		field:   func(c *Config) any { return &c.Deliver.TimeoutSecs },
	},
}

// bounds returns the least and the greatest value of a number.
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
