package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/test/golden"
)

// reference is the folder of the pages that describe the commands.
const reference = "../../docs/cli"

// TestTheReferencePagesAreFresh: docs/cli.md and the pages below docs/cli are made from the command tree.
func TestTheReferencePagesAreFresh(t *testing.T) {
	tree := root.Tree((&cli.App{}))
	golden.Check(t, reference+".md", index(tree))
	made := map[string]bool{"common.md": true}
	golden.Check(t, reference+"/common.md", common(tree))
	for _, g := range tree.Groups() {
		made[g.ID+".md"] = true
		golden.Check(t, reference+"/"+g.ID+".md", page(tree, g))
	}
	files, err := os.ReadDir(reference)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !made[f.Name()] {
			t.Errorf("%s/%s belongs to no group of commands", reference, f.Name())
		}
	}
}

// TestTheReferencePagesDescribeEveryCommand, each on one page.
func TestTheReferencePagesDescribeEveryCommand(t *testing.T) {
	tree, pages := root.Tree((&cli.App{})), ""
	for _, g := range tree.Groups() {
		pages += page(tree, g)
	}
	for _, c := range tree.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			continue
		}
		if n := strings.Count(pages, "\n## "+c.CommandPath()+"\n"); n != 1 {
			t.Errorf("%s stands on %d pages", c.CommandPath(), n)
		}
	}
}

// index is docs/cli.md: what a person looks for first, and where the rest is.
func index(tree *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The command line\n\n%s\n\n", prose(tree.Long))
	b.WriteString("[Common](cli/common.md) has what all commands share: flags, output, errors,\n" +
		"environment variables, and the states and files that the other pages name.\n" +
		"\n| page | commands |\n|---|---|\n")
	for _, g := range tree.Groups() {
		var names []string
		for _, c := range members(tree, g) {
			names = append(names, "`"+c.Name()+"`")
		}
		fmt.Fprintf(&b, "| [%s](cli/%s.md) | %s |\n", title(g), g.ID, strings.Join(names, " "))
	}
	b.WriteString("\nThe commands that you use most:\n\n")
	table(&b, members(tree, tree.Groups()[0]))
	for _, c := range tree.Commands() {
		if c.Name() == "exit-codes" {
			fmt.Fprintf(&b, "\n## Exit codes\n\n```text\n%s\n```\n", c.Long)
		}
	}
	return b.String()
}

// common is the page of what all commands share.
func common(tree *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# What all commands share\n\nFlags:\n\n")
	flags(&b, tree.PersistentFlags())
	b.WriteString("\n" + aboutOutput)
	for _, c := range tree.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, "\n## ferrus help %s\n\n```text\n%s\n```\n", c.Name(), c.Long)
		}
	}
	return below(b.String())
}

// page describes the commands of a group.
func page(tree *cobra.Command, g *cobra.Group) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n[Common](common.md) has the flags, the output and the exit codes of all commands.\n\n", title(g))
	var commands []*cobra.Command
	for _, c := range members(tree, g) {
		commands = append(commands, c)
		all(c, func(sub *cobra.Command) { commands = append(commands, sub) })
	}
	table(&b, commands)
	for _, c := range commands {
		describe(&b, c)
	}
	return below(b.String())
}

func describe(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n    %s\n\n%s\n", c.CommandPath(), usageOf(c), prose(c.Long))
	if c.HasLocalFlags() {
		b.WriteString("\n")
		flags(b, c.LocalFlags())
	}
	fmt.Fprintf(b, "\nExamples:\n\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
	if details := c.Annotations[cli.Details]; details != "" {
		fmt.Fprintf(b, "\n%s\n", prose(strings.Trim(details, "\n")))
	}
	if fields := c.Annotations[cli.JSON]; fields != "" {
		fmt.Fprintf(b, "\nWith `--json`:\n%s\n", prose(fields))
	}
}

func table(b *strings.Builder, commands []*cobra.Command) {
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range commands {
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(usageOf(c), "|", `\|`), c.Short)
	}
}

// members are the commands of a group, in the order of the help.
func members(tree *cobra.Command, g *cobra.Group) (commands []*cobra.Command) {
	for _, c := range tree.Commands() {
		if c.GroupID == g.ID {
			commands = append(commands, c)
		}
	}
	return commands
}

func title(g *cobra.Group) string { return strings.TrimSuffix(g.Title, ":") }

// below rewrites the links of a text that was written for docs for a page in docs/cli.
func below(text string) string {
	return strings.NewReplacer("](common.md)", "](common.md)", "](", "](../").Replace(text)
}

// aboutOutput is what all commands print.
const aboutOutput = "An error is two lines on stderr: what failed and why, then what to do. With\n" +
	"`--json` it is one object: `{\"code\", \"message\", \"remedy\", \"state\"}`. `code` is\n" +
	"that of the refusal as in [tools](tools.md), or `usage`, `timeout`, `failure`.\n" +
	"Results go to stdout. Only a terminal gets colours; `NO_COLOR` turns them off.\n" +
	"\nA command that takes longer than two seconds shows on the terminal how long, and\n" +
	"the last line of the output of the checks. Elsewhere it prints a line to stderr\n" +
	"after 30 seconds, and then ever more rarely. With `--json` it does neither.\n" +
	"\nWith `--json` each object also has what else stderr says of it: `foreign`, with\n" +
	"`message` and `remedy`, for state that was not made here and is only shown, and\n" +
	"`hidden_characters`, how many of a text that you gave became marks.\n\n" +
	"In the shell of an agent (`FERRUS_AGENT` is set), every command that changes\n" +
	"something is refused with exit code 4.\n"

// usageOf is the usage line of a command from the root on.
func usageOf(c *cobra.Command) string { return c.Parent().CommandPath() + " " + c.Use }

// all visits the commands below c in their order, without the help topics.
func all(c *cobra.Command, visit func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		visit(sub)
		all(sub, visit)
	}
}

func flags(b *strings.Builder, set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, text := pflag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + kind)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, "- `%s`: %s\n", name, text)
	})
}

// prose keeps what Markdown would take for a tag or a table.
func prose(text string) string { return strings.NewReplacer("<", "&lt;", "|", `\|`).Replace(text) }
