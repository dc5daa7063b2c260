package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// parsers are what reads text that somebody else wrote. Each is fuzzed from its seeds and from the corpus in the
// testdata of its package.
var parsers = []Rig{
	{
		Name: "fuzz STATE.json", Promise: "whatever stands there, no acknowledged line is lost", Package: "./internal/store/file", Test: "FuzzStateFile",
	},
	{
		Name: "fuzz journal lines", Promise: "a line is read as it was written, or not at all", Package: "./internal/store/file", Test: "FuzzDecodeLine",
	},
	{
		Name: "fuzz tasks", Promise: "a task is read the same again, and no event makes it panic", Package: "./internal/state", Test: "FuzzTask",
	},
	{
		Name: "fuzz ferrus.toml", Promise: "it is read, or refused with file and line", Package: "./internal/config", Test: "FuzzParse",
	},
	{
		Name: "fuzz tool arguments", Promise: "what is no text is not let through", Package: "./internal/tools", Test: "FuzzArguments",
	},
	{
		Name: "fuzz JSON-RPC lines", Promise: "every line is a message or is answered, and none is lost", Package: "./internal/server", Test: "FuzzLines",
	},
	{
		Name: "fuzz the sanitizer", Promise: "no control sequence of an agent's reaches a terminal", Package: "./internal/safetext", Test: "FuzzClean",
	},
	{
		Name: "fuzz what agents print", Promise: "their streams are read the same however they are cut", Package: "./internal/agents", Test: "FuzzReader",
	},
	{
		Name: "fuzz other clients' files", Promise: "a statement is found where it stands, or the file is left alone", Package: "./internal/agents/register", Test: "FuzzTheScanner",
	},
	{
		Name: "fuzz tokens.json", Promise: "a book of tokens is read whole or refused", Package: "./internal/server/tokens", Test: "FuzzParse",
	},
}

// fuzzTime is how long a target is fuzzed.
var fuzzTime = map[string]string{"-short": "2s", "": "10s", "-full": "60s"}

func (r Rig) fuzzes() bool { return strings.HasPrefix(r.Test, "Fuzz") }

// execs are executions, at first those of the inputs that are there already.
var execs = regexp.MustCompile(`(?m)(?:execs: |coverage: )(\d+).*?(?:total: (\d+)|$)`)

// fuzz runs a fuzz target; its cases are its executions.
func (r Rig) fuzz(ctx context.Context, form string) verdict {
	var v verdict
	v.output, v.err = r.test(ctx, "", "-fuzz=^"+r.Test+"$", "-fuzztime="+fuzzTime[form], "-fuzzminimizetime=20x")
	for _, found := range execs.FindAllSubmatch(v.output, -1) {
		v.cases, _ = strconv.Atoi(string(found[1]))
		v.said = fmt.Sprintf("%s, %s inputs of interest", fuzzTime[form], cmp.Or(string(found[2]), "no new"))
	}
	switch {
	case ranOut(v.output):
		v.err = nil
	case v.err == nil && v.cases == 0:
		v.err = errNothing
	}
	return v
}

var deadline = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \(.*\)\n\s+context deadline exceeded\n`)

// ranOut reports whether nothing failed but Go's fuzzer, which at times takes the end of its own time for a failure.
func ranOut(output []byte) bool { return deadline.Match(output) }
