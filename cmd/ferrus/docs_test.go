package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/test/golden"
)

// TestTheReferencePageIsFresh: docs/cli.md is made from the command tree.
func TestTheReferencePageIsFresh(t *testing.T) {
	golden.Check(t, "../../docs/cli.md", string(markdown(root.Tree((&cli.App{})))))
}

// markdown is the reference page of a command tree.
func markdown(root *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The command line\n\n%s\n\n", prose(root.Long))
	b.WriteString(aboutOutput)
	b.WriteString("Flags of all commands:\n\n")
	flags(&b, root.PersistentFlags())
	b.WriteString("\n| command | what it does |\n|---|---|\n")
	all(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(usageOf(c), "|", `\|`), c.Short)
	})
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, "\n## ferrus help %s\n\n```text\n%s\n```\n", c.Name(), c.Long)
		}
	}
	all(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "\n## %s\n\n    %s\n\n%s\n", c.CommandPath(), usageOf(c), prose(c.Long))
		if c.HasLocalFlags() {
			b.WriteString("\n")
			flags(&b, c.LocalFlags())
		}
		fmt.Fprintf(&b, "\nExamples:\n\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
		if details := c.Annotations[cli.Details]; details != "" {
			fmt.Fprintf(&b, "\n%s\n", prose(strings.Trim(details, "\n")))
		}
		if fields := c.Annotations[cli.JSON]; fields != "" {
			fmt.Fprintf(&b, "\nWith `--json`:\n%s\n", prose(fields))
		}
	})
	return b.Bytes()
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
	"something is refused with exit code 4.\n\n"

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

func flags(b *bytes.Buffer, set *pflag.FlagSet) {
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
