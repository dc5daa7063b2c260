package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
)

// namedCommand finds a command in a text, with the words and options behind it.
var namedCommand = regexp.MustCompile(`\bferrus((?: [a-z][a-z-]*| --[a-z][a-z-]*)+)`)

// TestEveryCommandThatATextNamesExists: each option that a text of ferrus gives to one of its commands is one that the
// command takes.
func TestEveryCommandThatATextNamesExists(t *testing.T) {
	tree, options := root.Tree((&cli.App{})), 0
	check := func(where, text string) {
		for _, m := range namedCommand.FindAllStringSubmatch(text, -1) {
			cmd, words := tree, strings.Fields(m[1])
			for len(words) > 0 && !strings.HasPrefix(words[0], "--") {
				sub, _, err := cmd.Find(words[:1])
				if err != nil || sub == cmd {
					break
				}
				cmd, words = sub, words[1:]
			}
			if cmd == tree || cmd.DisableFlagParsing {
				continue // ferrus as the subject of a sentence, or the server's options
			}
			for len(words) > 0 && strings.HasPrefix(words[0], "--") {
				options++
				if !takesFlag(cmd, words[0][2:]) {
					t.Errorf("%s names %q, and %s has no %s", where, m[0], cmd.CommandPath(), words[0])
				}
				words = words[1:]
			}
		}
	}
	all(tree, func(c *cobra.Command) { check("the help of "+c.CommandPath(), c.Example) })
	for _, dir := range []string{"../../README.md", "../../docs", "../../.ferrus-template", "../../cmd", "../../internal"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			ext := filepath.Ext(name)
			if err != nil || ext != ".go" && ext != ".md" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			if ext == ".md" {
				check(name, string(text))
				return err
			}
			var s scanner.Scanner
			set := token.NewFileSet()
			s.Init(set.AddFile(name, -1, len(text)), text, nil, 0)
			for _, tok, lit := s.Scan(); tok != token.EOF; _, tok, lit = s.Scan() {
				if tok == token.STRING {
					if said, err := strconv.Unquote(lit); err == nil {
						check(name, said)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if options < 20 {
		t.Errorf("only %d options were found", options)
	}
}

func takesFlag(cmd *cobra.Command, name string) bool {
	return cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil
}
