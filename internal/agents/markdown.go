package agents

import (
	"fmt"
	"strings"
)

// Markdown returns docs/agents.md, made from the table.
func Markdown() []byte {
	var b strings.Builder
	b.WriteString(`# Agents

The coding agents that ferrus can start, each by its own command line program, as named in ` + "`ferrus.toml`" + `:

    [hq.supervisor]
    agent = "claude-code"
    [hq.executor]
    agent = "codex"

In every session that ferrus starts the agent sees the tools of one MCP server, ours, in the role of its duty. Other MCP
servers of your configuration or the project's are left out, and so is another entry ` + "`" + ServerName + "`" + `. Our tools
run unasked. An executor works headless with the rights below; beside a person it asks for edits and commands as you are
used to. A reviewer, a consultant and a supervisor change nothing, with a person or without. A worker of a
[pipeline](pipelines.md) has the rights of an executor, and those to write in the folder of its run. In every agent's
environment ` + "`FERRUS_AGENT`" + ` is its role, name and index, such as ` + "`executor:codex:1`" + `; a worker's role is that in its pipeline,
and its index that of the attempt, as in ` + "`researcher-a:codex:2`" + `.

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
	b.WriteString("\n## What to know of each\n")
	for _, a := range table {
		fmt.Fprintf(&b, "\n### %s\n\n", a.Title)
		if a.Install != "" {
			fmt.Fprintf(&b, "    %s\n\n", a.Install)
		}
		for _, lack := range a.Lacks {
			fmt.Fprintf(&b, "- %s\n", lack)
		}
	}
	b.WriteString(`
## The agent ` + "`command`" + `

Runs the ` + "`command`" + ` of its table in ` + "`ferrus.toml`" + ` by ` + "`/bin/sh`" + `, in the folder of the work. Each of these
is put into it as one word, quoted for the shell, and stands in its environment too:

| in the command | in the environment | is |
| --- | --- | --- |
`)
	for _, p := range placeholders {
		fmt.Fprintf(&b, "| `{%s}` | `FERRUS_%s` | %s |\n", p.name, strings.ToUpper(p.name), p.is)
	}
	b.WriteString(overHTTP)
	return []byte(b.String())
}

const overHTTP = `
## Agents elsewhere

One server serves clients in containers and on other machines: ` + "`ferrus token new`" + ` makes a token for each and shows
what to write into its configuration, and ` + "`ferrus serve --http 127.0.0.1:7433`" + ` lets them in ([security](security.md)).

- Register the type ` + "`http`" + ` with ` + "`/mcp`" + `, not ` + "`sse`" + ` with ` + "`/sse`" + `, wherever a client knows both. Claude Code over SSE does not
  come back when the server has been started anew: it goes on without our tools. Over HTTP a client of the newest revision
  of MCP has no session with the server that could be lost.
- An executor keeps the work as long as it calls within ` + "`lease.max_silence_secs`" + `. If it loses the answer of the call that
  claimed the work, it calls wait_for_task again: in the same session, or with the claim that it had before, it gets the
  same claim. A caller that had gone before it could be answered holds nothing. Otherwise the work is free when the
  silence is over, or at once by ` + "`ferrus release`" + `.
- The tokens stand in ` + "`.ferrus/tokens.json`" + ` alone. ` + "`git clean -fdx`" + ` takes them away, and ` + "`ferrus doctor --fix`" + `, which
  brings the task back, cannot bring them back: ` + "`ferrus doctor`" + ` says so, and you make new ones.
`
