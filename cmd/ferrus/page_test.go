package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/test/golden"
)

const consoleBlock = "\n```console\n"

// passing is what differs from one run to the next: ids, times, and how long something took.
var passing = regexp.MustCompile(`\b(\d{8}T\d{6}\.\d+|[0-9a-f]{7,40}|t-[0-9-]+-[0-9a-f]+|\d\d:\d\d:\d\d|[\d.]+ (s|ms))\b`)

// moment is a line about a state that may be over before a run sees it.
var moment = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d +\S+ +(in progress|writes|checks passed|in review)\b.*\n`)

// spaces end a line, or a column whose width depends on what differs.
var spaces = regexp.MustCompile(` +`)

// pageCommand runs the commands of a page of docs: page NAME. They are the lines after "$ " in its blocks of the kind console, in their order, in the present
// folder. Below each stands its output. -update writes it.
func pageCommand(ts *testscript.TestScript, _ bool, args []string) {
	path := filepath.Join("..", "..", "docs", args[0])
	text, err := os.ReadFile(path)
	ts.Check(err)
	parts := strings.Split(string(text), consoleBlock)
	for i, part := range parts[1:] {
		block, rest, _ := strings.Cut(part, "```\n")
		is := ""
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				ts.Check(ts.Exec("sh", "-c", "exec 2>&1; "+command))
				is += line + asRead(ts, ts.ReadFile("stdout"))
			}
		}
		parts[i+1] = is + "```\n" + rest
		if diff := cmp.Diff(unordered(block), unordered(is)); diff != "" && !golden.Updating() {
			ts.Fatalf("%s, -update writes it (-page +output):\n%s", path, diff)
		}
	}
	if golden.Updating() {
		ts.Check(os.WriteFile(path, []byte(strings.Join(parts, consoleBlock)), 0o644))
	}
}

// asRead is an output as it stands on a page: of GitHub in place of the stand-in.
func asRead(ts *testscript.TestScript, out string) string {
	out = strings.NewReplacer(ts.Getenv("WORK"), "~", "http://github.localhost", "https://github.com", "github.localhost", "github.com", "/me/p", "/you/p", "me/ferrus", "you/ferrus").Replace(out)
	return strings.TrimSpace(strings.ReplaceAll(out, " \n", "\n")) + "\n"
}

// unordered are the lines of a block in the order of the alphabet, without what differs: a reviewer may start before the executor has ended.
func unordered(block string) []string {
	block = passing.ReplaceAllString(moment.ReplaceAllString(block, ""), "0")
	return slices.Sorted(strings.Lines(spaces.ReplaceAllString(block, " ")))
}
