package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/rules"
)

// A Row explains one key of ferrus.toml. Value and Default are written as in the file; "none" is a
// list that is not configured.
type Row struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Allowed string `json:"allowed"`
	Comment string `json:"comment"`
	Line    int    `json:"line,omitempty"` // where the file sets it; 0: it does not
}

// Set reports whether the file sets the key, possibly to its default.
func (r Row) Set() bool { return r.Line > 0 }

// Explain returns every key in the order of the file. A Config that was not parsed from a file has
// no lines.
func (c Config) Explain() []Row {
	rows := make([]Row, len(keys))
	for i, k := range keys {
		rows[i] = Row{
			Key:     k.name,
			Value:   k.shown(c),
			Default: literal(k.def),
			Allowed: k.allowed(),
			Comment: k.comment,
			Line:    c.lines[k.name],
		}
	}
	return rows
}

// At returns a key with its place in the parsed file, as in "ferrus.toml:4: hq.executor.agent", or
// only the key if the file does not set it.
func (c Config) At(key string) string {
	if line := c.lines[key]; line > 0 {
		return fmt.Sprintf("%s:%d: %s", FileName, line, key)
	}
	return key
}

// Example returns the text of ferrus.toml.example: every key with its default and a comment. It
// parses to Default.
func Example() []byte {
	var b bytes.Buffer
	b.WriteString("# Every key of ferrus.toml with its default. Copy what you want to change; leave out the rest.\n")
	table := ""
	for _, k := range keys {
		if k.table() != table {
			table = k.table()
			fmt.Fprintf(&b, "\n[%s]\n", table)
		}
		fmt.Fprintf(&b, "# %s\n", k.comment)
		if k.sample != nil {
			fmt.Fprintf(&b, "# %s = %s\n", k.last(), literal(k.sample))
			continue
		}
		fmt.Fprintf(&b, "%s = %s\n", k.last(), literal(k.def))
	}
	b.WriteString(exampleRules)
	return b.Bytes()
}

// Markdown returns the reference page of ferrus.toml, with one table row for each key.
func Markdown() []byte {
	var b bytes.Buffer
	b.WriteString("# ferrus.toml\n\n| key | default | allowed | what it is |\n|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`)
	for _, r := range Default().Explain() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", r.Key, cell.Replace(r.Default), r.Allowed, cell.Replace(r.Comment))
	}
	for was, now := range oldNames {
		fmt.Fprintf(&b, "\n`%s` is read as `%s`.\n", was, now)
	}
	b.WriteString(checksPage + strings.ReplaceAll(personPage, "'", "`") + rulesPage + rules.Markdown() + rulesPageEnd)
	return b.Bytes()
}

// Lines returns the two lines of ferrus.toml that set a key: its table, and the key with the value,
// which has the key's type.
func Lines(key string, value any) string {
	k, ok := find(key)
	if !ok {
		panic("config: no key " + key)
	}
	return "[" + k.table() + "]\n" + k.last() + " = " + literal(value)
}

// A Start is what `ferrus init` writes into a new ferrus.toml.
type Start struct {
	Checks   []string // nil leaves them unconfigured and explains that; empty is the choice that every check passes
	Setup    string   // of new work trees; "" for none
	HQ       HQ       // an agent without a name is omitted
	Limits   Limits   // the budgets of a task; 0 is omitted
	Channels Channels // that notify the person
}

// Render returns the ferrus.toml of a start. Parsed, it has exactly these values. Executors and checks get a sandbox where one works.
func Render(s Start) []byte {
	var b bytes.Buffer
	b.WriteString("# How ferrus judges work in this project. `ferrus config explain` lists every key with its default,\n" +
		"# `ferrus config example` prints a file with all of them, `ferrus config check` checks this one.\n\n[checks]\n")
	switch {
	case s.Checks == nil:
		b.WriteString("# Without commands no work can be submitted. Name what must exit 0, for example:\n" +
			"# commands = [\"make test\"]\n")
	case len(s.Checks) == 0:
		b.WriteString("# An explicit choice: every check passes.\ncommands = []\n")
	default:
		b.WriteString("# All of these must exit 0 before work reaches a reviewer.\ncommands = [\n")
		for _, c := range s.Checks {
			fmt.Fprintf(&b, "  %s,\n", quote(c))
		}
		b.WriteString("]\n")
	}
	fmt.Fprintf(&b, "# They run in a sandbox when the agent that did the work ran in one: docs/sandbox.md.\nsandbox = %q\n", AutoSandbox)
	if s.Setup != "" {
		fmt.Fprintf(&b, "\n# Runs once in each new work tree, which has no files that git ignores.\n%s\n", Lines("branches.setup", s.Setup))
	}
	table(&b, "When a task has used so much, ferrus ends its agents and asks you.",
		setting{"limits.max_task_minutes", s.Limits.MaxTaskMinutes, s.Limits.MaxTaskMinutes > 0},
		setting{"limits.max_task_dollars", s.Limits.MaxTaskDollars, s.Limits.MaxTaskDollars > 0},
		setting{"limits.max_task_tokens", s.Limits.MaxTaskTokens, s.Limits.MaxTaskTokens > 0})
	table(&b, "How you are told that ferrus waits for you. `ferrus notify --test` tries it.",
		setting{"notify.desktop", s.Channels.Desktop, s.Channels.Desktop},
		setting{"notify.urls", s.Channels.URLs, len(s.Channels.URLs) > 0})
	b.Write(RenderAgents(s.HQ))
	return b.Bytes()
}

// A setting is a key of a table with its value, if it is to be written.
type setting struct {
	name  string
	value any
	is    bool
}

// table writes settings of one table after an empty line and a comment, if there are any.
func table(b *bytes.Buffer, comment string, of ...setting) {
	head := ""
	for _, s := range of {
		if !s.is {
			continue
		}
		first, rest, _ := strings.Cut(Lines(s.name, s.value), "\n")
		if first != head {
			fmt.Fprintf(b, "\n# %s\n%s\n", comment, first)
		}
		head = first
		fmt.Fprintf(b, "%s\n", rest)
	}
}

// RenderAgents returns the tables of ferrus.toml that name the agents of hq, each after an empty line. An agent without a name is omitted.
func RenderAgents(hq HQ) []byte {
	var b bytes.Buffer
	if hq.Supervisor.Agent != "" {
		fmt.Fprintf(&b, "\n# The agent that reviews work and answers consultations. `ferrus agents` lists them.\n%s\n", Lines("hq.supervisor.agent", hq.Supervisor.Agent))
	}
	if hq.Executor.Agent != "" {
		fmt.Fprintf(&b, "\n# The agent that does the work, in a sandbox where one works.\n%s\nsandbox = %q\n", Lines("hq.executor.agent", hq.Executor.Agent), AutoSandbox)
	}
	return b.Bytes()
}
