package root

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestATopicIsAScreen: no help topic is longer or wider than a terminal.
func TestATopicIsAScreen(t *testing.T) {
	for _, topic := range topics {
		lines := strings.Split(strings.TrimSpace(topic.text()), "\n")
		if len(lines) > 36 {
			t.Errorf("%s has %d lines", topic.name, len(lines))
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > helpColumns || strings.TrimRight(l, " ") != l {
				t.Errorf("%s: %q is too long or ends with a space", topic.name, l)
			}
		}
	}
}

// TestEveryTopicIsComplete: each state, document and exit code has its line.
func TestEveryTopicIsComplete(t *testing.T) {
	for _, s := range state.States() {
		if about := status.AboutState(s); !strings.Contains(statesText(), string(s)+" ") || !strings.HasSuffix(about, ".") || strings.HasPrefix(about, " ") {
			t.Errorf("help states says nothing about %s", s)
		}
	}
	for _, d := range state.Docs() {
		if docMeans[d] == "" {
			t.Errorf("help files says nothing about %s", d)
		}
	}
	for i, e := range cli.ExitCodes {
		if e.Means == "" || i > 0 && cli.ExitCodes[i-1].Code >= e.Code {
			t.Errorf("help exit-codes: %d means %q, or is not in order", e.Code, e.Means)
		}
	}
}

// ownVariable is a variable of ferrus, as a string of the code has it.
var ownVariable = regexp.MustCompile(`^FERRUS_[A-Z_]+`)

// elsewhere are folders of tests and of programs that have variables of their own.
var elsewhere = regexp.MustCompile(`^\.\./\.\./(test|bench)(/|$)|/[a-z]+test(/|$)`)

// TestEveryVariableHasALineOfHelp: help environment lists each FERRUS_ variable that the code names.
func TestEveryVariableHasALineOfHelp(t *testing.T) {
	help, found := environmentText(), 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || elsewhere.MatchString(filepath.ToSlash(name)) {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(name, -1, len(text)), text, nil, 0)
		for _, tok, lit := s.Scan(); tok != token.EOF; _, tok, lit = s.Scan() {
			if tok != token.STRING {
				continue
			}
			if v := ownVariable.FindString(strings.Trim(lit, "\"`")); v != "" {
				found++
				if short := strings.TrimPrefix(v, "FERRUS"); !strings.Contains(help, v) && !strings.Contains(help, " "+short) {
					t.Errorf("%s names %s, and help environment does not", name, v)
				}
			}
		}
		return nil
	})
	if err != nil || found < 15 {
		t.Errorf("%d variables were found: %v", found, err)
	}
}
