package agents

import (
	"fmt"
	"strings"
)

// Markdown returns docs/agents.md, generated from the table.
func Markdown() []byte {
	var b strings.Builder
	b.WriteString(`# Agents

ferrus can start the agents below, each by its own command line program. Name
them in ` + "`ferrus.toml`" + `:

    [hq.supervisor]
    agent = "claude-code"
    [hq.executor]
    agent = "codex"

## What every agent gets

- **Tools.** The agent sees the tools of one MCP server, that of ferrus, for its
  duty. ferrus leaves out other MCP servers of your configuration or of the
  project, and another entry ` + "`" + ServerName + "`" + `. The tools of ferrus run without asking.
- **Rights.** An executor without a terminal has the rights in the table. In
  your terminal it asks for edits and commands as usual. A reviewer, a
  consultant and a supervisor change nothing, in either case. A worker of a
  [pipeline](pipelines.md) has the rights of an executor, and may write in the
  folder of its run.
- **Identity.** ` + "`FERRUS_AGENT`" + ` in its environment is its role, name and index,
  such as ` + "`executor:codex:1`" + `. For a worker it is the role in its pipeline, and
  the index of the attempt: ` + "`researcher-a:codex:2`" + `.

## Another agent when one cannot work

    [hq.executor]
    agent = "codex"
    fallback = ["codex:mini", "gemini"]
    [hq.supervisor]
    agent = "claude-code"
    fallback = ["gemini:pro"]

Each entry is ` + "`AGENT`" + ` or ` + "`AGENT:MODEL`" + `. At each start ferrus takes the first agent
of the list that can work. Three things move on to the next one: a limit whose
end the client declares and that lasts for more than five minutes, a missing
login, and a program that cannot start. An ordinary failure never does: it is
counted and you are asked, as without a list.

- When the limit is over, the first agent works again at the next start. One that
  was not logged in or could not start is tried again after an hour, after your
  answer, or in a new ` + "`ferrus run`" + `.
- If all have limits, the task waits for the first one to end. Where no client
  declares an end, you are asked.
- A fallback never makes the reviewer a client and model that wrote a part of the
  work. Such an entry is skipped. If only that is left, the task waits and says
  so. An entry without a model counts as every model of its client.
  ` + "`same_model = true`" + ` under ` + "`[hq.supervisor]`" + ` permits it. If ` + "`agent`" + ` and ` + "`model`" + ` of both
  roles are the same, that is your choice and no fallback.
- ` + "`ferrus log`" + ` has an entry ` + "`fallback`" + ` for each move; ` + "`ferrus status`" + `, the screen and
  the page show who works in place of whom. The verdict of a run says "by the same
  model" when a client and model has written the work and reviewed it, and a notice
  of ` + "`ferrus status`" + ` does if a stand-in has worked.
- Budgets and limits count over all of them. ` + "`args`" + ` of ` + "`ferrus.toml`" + ` are for the
  client that ` + "`agent`" + ` names.
- A worker of a pipeline has the list of the role whose agent it uses. A move uses
  up none of its ` + "`retries`" + `.
- The list is frozen with the task, and you agree to it with ` + "`ferrus trust`" + `. An
  attempt with its own agent and the agent of a rule have no list.

## Each agent

| name | agent | program | one call waits | an executor | a worker | others |
| --- | --- | --- | --- | --- | --- | --- |
`)
	for _, a := range table {
		program := "your own"
		if a.Program != "" {
			program = "`" + a.Program + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d s | %s | %s | %s |\n", a.Name, a.Title, program, a.Wait, a.Executes, a.Works, a.Reviews)
	}
	b.WriteString(speaking)
	for _, a := range table {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.Name, a.Speaks)
	}
	b.WriteString("\n## Notes on each\n")
	for _, a := range table {
		fmt.Fprintf(&b, "\n### %s\n\n", a.Title)
		if a.Install != "" {
			fmt.Fprintf(&b, "    %s\n\n", a.Install)
		}
		for _, fact := range append(a.continuing(), a.Lacks...) {
			fmt.Fprintf(&b, "- %s\n", fact)
		}
	}
	b.WriteString(`
## The agent ` + "`command`" + `

ferrus runs the ` + "`command`" + ` of the table in ` + "`ferrus.toml`" + ` with ` + "`/bin/sh`" + `, in the
folder of the work. [Write an agent](write-an-agent.md) explains how. Each
placeholder is replaced by one word, quoted for the shell. The same value is in
the environment:

| in the command | in the environment | is |
| --- | --- | --- |
`)
	for _, p := range placeholders {
		fmt.Fprintf(&b, "| `{%s}` | `FERRUS_%s` | %s |\n", p.name, strings.ToUpper(p.name), p.is)
	}
	b.WriteString(overHTTP)
	return []byte(b.String())
}

const speaking = `
## Speakers of a dialogue

A worker with turns in a [dialogue](pipelines.md#dialogues) reads its inputs and
edits ` + "`dialogue.json`" + `. It needs nothing else, so ferrus takes the other tools
from it where the client has an option for that. It keeps the tools of ferrus
for a worker.

| name | a speaker |
| --- | --- |
`

const overHTTP = `
## Agents elsewhere

One server serves clients in containers and on other machines. ` + "`ferrus token\nnew`" + ` makes a token for each and shows what to write into its configuration.
` + "`ferrus serve --http 127.0.0.1:7433`" + ` starts the server
([security](security.md)).

- Register the type ` + "`http`" + ` with ` + "`/mcp`" + `, not ` + "`sse`" + ` with ` + "`/sse`" + `, if a client knows
  both. After a restart of the server Claude Code over SSE does not reconnect:
  it continues without the tools of ferrus. Over HTTP a client of the newest
  revision of MCP has no session with the server that could be lost.
- An executor keeps its claim as long as it calls within
  ` + "`lease.max_silence_secs`" + `. If it loses the answer to wait_for_task, it calls it
  again. In the same session, or with the claim that it had before, it gets the
  same claim. A caller that disconnected before the answer has no claim.
  Otherwise the task is free after ` + "`lease.max_silence_secs`" + `, or at once after
  ` + "`ferrus release`" + `.
- The tokens are in ` + "`.ferrus/tokens.json`" + ` alone. ` + "`git clean -fdx`" + ` deletes them.
  ` + "`ferrus doctor --fix`" + ` restores the task but not the tokens; ` + "`ferrus doctor`" + `
  says so, and you make new ones.
`

// continuing says what the agent does where [hq.executor] continue is "native".
func (a Adapter) continuing() []string {
	switch {
	case a.Forks:
		return []string{"With `continue = \"native\"` an executor continues its earlier session, after a rollback a copy of it."}
	case a.Resumes:
		return []string{"With `continue = \"native\"` an executor continues its earlier session, but after a rollback it begins a new one."}
	}
	return nil
}
