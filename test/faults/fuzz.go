package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

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
