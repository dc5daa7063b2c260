package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
)

// The rules of a help, see TestEveryHelpIsShortAndHasExamples.
const (
	helpColumns = 80
	helpLines   = 6
	helpWords   = 25 // of a sentence
)

// imperative is a summary of a command: a verb first. Those that begin with another word are refused.
var (
	imperative = regexp.MustCompile(`^[A-Z][a-z]+\b`)
	noVerb     = regexp.MustCompile(`^(The|A|An|What|Where|Which|How|One|Every|Tokens|Help)\b|\.$`)
	assigned   = regexp.MustCompile(`^([A-Z_]+=\S+ )+`)
	quotedWord = regexp.MustCompile(`"[^"]*"`)
)

// TestEveryHelpIsShortAndHasExamples: each command has a summary that starts with a verb, a description of two to six lines,
// short sentences, no list of JSON keys, and examples that ferrus can parse; and no line is wider than a terminal.
func TestEveryHelpIsShortAndHasExamples(t *testing.T) {
	tree, commands := root.Tree(&cli.App{}), 0
	all(tree, func(c *cobra.Command) {
		commands++
		path := c.CommandPath()
		if !imperative.MatchString(c.Short) || noVerb.MatchString(c.Short) {
			t.Errorf("%s: the summary %q does not start with a verb, or ends with a full stop", path, c.Short)
		}
		if c.Name() == "help" {
			return
		}
		if n := strings.Count(strings.TrimSpace(c.Long), "\n") + 1; c.Long == "" || n > helpLines {
			t.Errorf("%s: the description has %d lines", path, n)
		}
		if strings.Contains(c.Long, "[{") || strings.Contains(c.Long, "With --json") {
			t.Errorf("%s: JSON keys belong to cli.Reference", path)
		}
		for _, text := range []string{c.Long, c.Annotations[cli.Details]} {
			checkSentences(t, path, text)
		}
		checkColumns(t, path, c.Annotations[cli.Details])
		checkColumns(t, path, c.Annotations[cli.JSON])
		checkColumns(t, path, shownHelp(t, path))
		if c.Example == "" {
			t.Errorf("%s has no example", path)
		}
		for _, line := range strings.Split(c.Example, "\n") {
			checkExample(t, tree, c, line)
		}
	})
	if commands < 50 {
		t.Errorf("only %d commands were found", commands)
	}
	checkColumns(t, "ferrus", shownHelp(t, "ferrus"))
}

// shownHelp is what a command prints with --help.
func shownHelp(t *testing.T, path string) string {
	t.Helper()
	var out bytes.Buffer
	a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &out}
	if exit := root.Run(a, t.Context(), append([]string{"help"}, strings.Fields(path)[1:]...)); exit != cli.ExitOK {
		t.Errorf("ferrus help of %s ends with %d", path, exit)
	}
	return out.String()
}

func checkColumns(t *testing.T, path, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > helpColumns {
			t.Errorf("%s: %q is wider than %d columns", path, line, helpColumns)
		}
	}
}

func checkSentences(t *testing.T, path, text string) {
	t.Helper()
	for _, sentence := range regexp.MustCompile(`[.:] |\.\n|\n\n|\n- |:\n|$`).Split(text, -1) {
		if n := len(strings.Fields(sentence)); n > helpWords {
			t.Errorf("%s: %d words in %q", path, n, sentence)
		}
	}
}

// checkExample refuses an example that names another command, a flag that does not exist, or arguments that are not taken.
func checkExample(t *testing.T, tree, c *cobra.Command, line string) {
	t.Helper()
	_, command, _ := strings.Cut("| "+strings.TrimSpace(line), "| ")
	if _, piped, ok := strings.Cut(command, " | "); ok {
		command = piped
	}
	command, _, _ = strings.Cut(assigned.ReplaceAllString(command, ""), " > ")
	words := strings.Fields(quotedWord.ReplaceAllString(command, "text"))
	if !strings.HasPrefix(line, "  ") || len(words) == 0 || words[0] != "ferrus" {
		t.Errorf("%s: the example %q is no command of ferrus", c.CommandPath(), line)
		return
	}
	found, args, err := tree.Find(words[1:])
	if err != nil || found == tree {
		t.Errorf("%s: the example %q names no command: %v", c.CommandPath(), line, err)
		return
	}
	if found.DisableFlagParsing {
		return
	}
	fresh := pflag.NewFlagSet("example", pflag.ContinueOnError)
	fresh.AddFlagSet(found.LocalFlags())
	fresh.AddFlagSet(found.InheritedFlags())
	if err := fresh.Parse(args); err != nil {
		t.Errorf("%s: the example %q: %v", c.CommandPath(), line, err)
	} else if found.Args != nil && found.Args(found, fresh.Args()) != nil {
		t.Errorf("%s: the example %q: %v", c.CommandPath(), line, found.Args(found, fresh.Args()))
	}
}
