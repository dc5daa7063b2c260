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
		Name: "fuzz STATE.json", Promise: "whatever stands there, no acknowledged line is lost", Package: "./internal/store", Test: "FuzzStateFile",
		Mutants: []Mutant{
			{"the position is believed", "internal/store/snapshot.go", "0 <= p.Last && p.Last", "p.Last"},
		},
	},
	{
		Name: "fuzz journal lines", Promise: "a line is read as it was written, or not at all", Package: "./internal/store", Test: "FuzzDecodeLine",
		Mutants: []Mutant{
			{"the hash is not compared", "internal/store/line.go", "digest(head) != h", "len(head) == 0"},
			{"a line ends elsewhere", "internal/store/line.go", "off+int64(len(raw))\n\treturn &l", "off+int64(len(raw))-1\n\treturn &l"},
		},
	},
	{
		Name: "fuzz tasks", Promise: "a task is read the same again, and no event makes it panic", Package: "./internal/state", Test: "FuzzTask",
		Mutants: []Mutant{
			{"a pause returns anywhere", "internal/state/codec.go", "if !p.State.Known() {", "if p.State == \"\" {"},
			{"keys in another case are kept", "internal/state/codec.go", "if strings.EqualFold(name, key) {", "if name == key {"},
			{"what is unknown is written in any order", "internal/state/codec.go", "slices.Sorted(maps.Keys(t.Extra))", "slices.Collect(maps.Keys(t.Extra))"},
		},
	},
	{
		Name: "fuzz ferrus.toml", Promise: "it is read, or refused with file and line", Package: "./internal/config", Test: "FuzzParse",
		Mutants: []Mutant{
			{"an error has no line", "internal/config/parse.go", "return 1 + bytes.Count", "return bytes.Count"},
			{"a limit is not pinned", "internal/config/config.go", "`json:\"max_same_failure\"`", "`json:\"-\"`"},
		},
	},
	{
		Name: "fuzz tool arguments", Promise: "what is no text is not let through", Package: "./internal/tools", Test: "FuzzArguments",
		Mutants: []Mutant{
			{"half a character is let through", "internal/tools/wire/decode.go", "if utf16.DecodeRune(high, surrogate(value[i:])) == utf8.RuneError {", "if utf16.DecodeRune(high, surrogate(value[i:])) < 0 {"},
			{"bytes are let through", "internal/tools/wire/decode.go", "if !utf8.Valid(value) {", "if len(value) == 0 {"},
			{"an argument may be missing", "internal/tools/wire/decode.go", "if !seen[a.Name] && !a.Optional {", "if a.Name == \"\" {"},
		},
	},
	{
		Name: "fuzz JSON-RPC lines", Promise: "every line is a message or is answered, and none is lost", Package: "./internal/server", Test: "FuzzLines",
		Mutants: []Mutant{
			{"what is no message is passed on", "internal/server/stdio.go", "err = jsonrpc.DecodeMessage(text); err != nil {", "err = jsonrpc.DecodeMessage(text); err != nil && text == nil {"},
			{"a blank line is answered", "internal/server/stdio.go", "case len(text) == 0:\n\t\treturn nil, nil", "case len(text) == 0:\n\t\treturn nil, answer(0, \"\")"},
			{"the last line needs an end", "internal/server/stdio.go", "if message != nil {", "if message != nil && err == nil {"},
		},
	},
	{
		Name: "fuzz the sanitizer", Promise: "no control sequence of an agent's reaches a terminal", Package: "./internal/safetext", Test: "FuzzClean",
		Mutants: []Mutant{
			{"an unterminated string hides all", "internal/safetext/clean.go", "case '\\n', '\\x18', '\\x1a':", "case '\\x18', '\\x1a':"},
			{"text may turn its direction", "internal/safetext/hidden.go", "{unicode.Cf, unicode.Other", "{unicode.Other"},
			{"DEL is plain", "internal/safetext/clean.go", "c > '~'", "c > 0x7f"},
		},
	},
	{
		Name: "fuzz what agents print", Promise: "their streams are read the same however they are cut", Package: "./internal/agents", Test: "FuzzReader",
		Mutants: []Mutant{
			{"the first half of a line is forgotten", "internal/agents/reading.go", "append(r.rest, piece...)", "append(r.rest[:0:0], piece...)"},
			{"every piece is a line", "internal/agents/reading.go", "if len(r.rest) > maxRest {", "if len(r.rest) > 0 {"},
		},
	},
	{
		Name: "fuzz other clients' files", Promise: "a statement is found where it stands, or the file is left alone", Package: "./internal/register", Test: "FuzzTheScanner",
		Mutants: []Mutant{
			{"a comment belongs to the value", "internal/register/tomlscan.go", "\"\\r\\n,]}#\"", "\"\\r\\n,]}\""},
			{"a statement ends too late", "internal/register/tomlscan.go", "st.value.to, st.to = s.at, s.at", "st.value.to, st.to = s.at, s.at+1"},
		},
	},
	{
		Name: "fuzz tokens.json", Promise: "a book of tokens is read whole or refused", Package: "./internal/tokens", Test: "FuzzParse",
		Mutants: []Mutant{
			{"any role", "internal/tokens/parse.go", "case !validRole(e.Role):", "case e.Role == \"\":"},
			{"one id twice", "internal/tokens/parse.go", "if seen[own] {", "if own == \"\" {"},
			{"any hash", "internal/tokens/parse.go", "case !hashForm.MatchString(e.Hash):", "case e.Hash == \"\":"},
		},
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
