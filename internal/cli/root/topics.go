package root

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A topic is a page of help about no command in particular: `ferrus help states`.
type topic struct {
	name, short string
	text        func() string
}

// topics are all of them, in the order of the help.
var topics = []topic{
	{"states", "Explain the states of a task", statesText},
	{"files", "List the files that ferrus keeps", filesText},
	{"exit-codes", "List the exit codes", exitCodesText},
	{"environment", "List the environment variables", environmentText},
}

// command is the topic as cobra has one: a command that does nothing.
func (t topic) command() *cobra.Command {
	return &cobra.Command{Use: t.name, Short: t.short, Long: strings.TrimSpace(t.text()), DisableFlagsInUseLine: true}
}

// A row is a word and what it means.
type row struct{ name, means string }

// helpColumns is how wide a line of help is at most.
const helpColumns = 80

// rows aligns rows in two columns. A text that does not fit on its line continues below itself.
func rows(list []row) string {
	wide := 0
	for _, r := range list {
		wide = max(wide, len(r.name))
	}
	var b strings.Builder
	for _, r := range list {
		at, _ := fmt.Fprintf(&b, "  %-*s ", wide, r.name)
		for _, word := range strings.Fields(r.means) {
			if at+1+len(word) > helpColumns {
				at, _ = fmt.Fprintf(&b, "\n  %-*s ", wide, "")
				at--
			}
			n, _ := fmt.Fprintf(&b, " %s", word)
			at += n
		}
		b.WriteString("\n")
	}
	return b.String()
}

func statesText() string {
	var list []row
	for _, s := range state.States() {
		list = append(list, row{string(s), status.StateWords(s) + ": " + status.AboutState(s)})
	}
	return `A task is always in one of these states. The words behind the name are those of
"ferrus status", the screen and the page; "ferrus log", "ferrus show" and --json
have the name.

` + rows(list) + `
Any task that has started can be abandoned with "ferrus reset". To see which
event leads where, use "ferrus simulate".
`
}

func exitCodesText() string {
	var list []row
	for _, e := range cli.ExitCodes {
		list = append(list, row{fmt.Sprint(e.Code), e.Means})
	}
	return "Every command exits with one of these codes:\n\n" + rows(list) + `
With --json an error is one JSON object on stderr. Its "code" is more exact.
`
}

// docMeans says what the documents of a task are.
var docMeans = map[state.Doc]string{
	state.TaskDoc:            "the text of the task",
	state.SubmissionDoc:      "what the executor says about its submission",
	state.ReviewDoc:          "what the newest review asks for",
	state.QuestionDoc:        "the question that waits for your answer",
	state.AnswerDoc:          "the newest answer of a person",
	state.ConsultRequestDoc:  "the question of the executor to the supervisor",
	state.ConsultResponseDoc: "the answer of the supervisor",
}

func filesText() string {
	docs := []row{}
	for _, d := range state.Docs() {
		docs = append(docs, row{string(d), docMeans[d]})
	}
	return `Files that you edit:

` + rows([]row{
		{"ferrus.toml", "checks, limits and agents (ferrus config explain)"},
		{"workflows.json", "your pipelines; by default in .ferrus"},
		{".ferrus/queue/", "waiting tasks, a file each; with a database they wait there"},
		{".ferrus/drafts/", "your comments on lines that ferrus web has not sent yet"},
	}) + `
Files in .ferrus that ferrus writes; do not edit them:

` + rows([]row{
		{"journal.jsonl", "every event with its documents: the only source of truth"},
		{"STATE.json", "the present state, written from the journal"},
		{"logs/", "the output of agents, checks and servers (ferrus logs)"},
		{"sandbox/", "the home folder and the caches of sandboxed checks"},
		{"executor/", "the folders of an executor in a sandbox"},
		{"logins/", "home folders of clients that have logged in for a sandbox"},
		{"trials", "which checks were tried in their sandbox"},
		{"rehearsal.json", "the result of the rehearsal, and whether you start without"},
		{"runs/", "one line for each start and end of an agent"},
		{"archive/", "finished tasks, and files that ferrus doctor replaced"},
		{"branches/", "the state of each branch"},
		{"worktrees/", "the work tree of each branch"},
		{"evidence/", "folders written by ferrus evidence"},
		{"tokens.json", "hashes of the tokens of HTTP clients"},
	}) + `
Documents of the task, in .ferrus while they exist, written from the journal:

` + rows(docs) + `
Outside the project: a hard-linked copy of the journal in the git directory,
and ~/.local/state/ferrus with the configurations that you trust.
`
}

// A variableGroup are environment variables with a title.
type variableGroup struct {
	title     string
	variables []row
}

// variables are the environment variables that ferrus reads and sets.
var variables = []variableGroup{
	{"Variables that you set:", []row{
		{"FERRUS_ROOT", "the folder of the project; -C overrides it"},
		{trust.EnvTrust, "the digest of the values that you trust, for this process"},
		{trust.EnvStateDir, "the folder of records outside of projects"},
		{trust.EnvXDGState, "these records are in its folder ferrus"},
		{trust.EnvXDGConf, "your own configuration is in its folder ferrus"},
		{"NO_COLOR", "turns colours off"},
		{"PAGER", "shows long output on a terminal; cat for none"},
		{"FERRUS_NOTIFY_URL", "a URL of [notify] urls; no agent and no check gets FERRUS_NOTIFY*"},
		{"PG*", "of PostgreSQL's clients; no agent and no command of ferrus.toml gets them, see [checks] env"},
		{"FERRUS_TOKEN", "the token of an HTTP client (ferrus token new)"},
	}},
	{"Set for agents, checks and [branches] setup:", []row{
		{"FERRUS_AGENT", "role:name:index of the agent; commands that change something refuse"},
		{"FERRUS_PROJECT", "the folder of the project"},
		{"FERRUS_PORT_BASE", "the first of ten ports of the work tree"},
		{"FERRUS_RUN, FERRUS_CHECK", "marks by which ferrus finds processes again"},
	}},
	{"Set for agents with agent = \"command\" (docs/agents.md):", []row{
		{"", "FERRUS_PROMPT, _ROOT, _BRANCH, _WORK, _DUTY, _ROLE, _MODEL, _MCP_CONFIG, _SERVER, _RUN_DIR, _WORKER, _OUTPUT"},
	}},
	{"Set for [notify] command:", []row{
		{"", "FERRUS_EVENT, _ID, _ROOT, _BRANCH, _STATE, _TITLE, _TASK, _QUESTION, and of a pipeline _PIPELINE, _DELIVERY"},
	}},
	{"Set for [deliver] command:", []row{
		{"", "FERRUS_PIPELINE, _DELIVERY, _TOPIC, _RESULT"},
	}},
}

func environmentText() string {
	var parts []string
	for _, g := range variables {
		parts = append(parts, g.title+"\n\n"+rows(g.variables))
	}
	return strings.Join(parts, "\n")
}
