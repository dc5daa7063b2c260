package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
)

// agreesTo is the variable by which a script is about something else than trust: each command that it runs finds that a
// person has agreed to the project's files as they are. A script about trust unsets it.
const agreesTo = "FERRUS_TEST_AGREED"

// agreeFirst agrees for the command that this process is about to be.
func agreeFirst() {
	if os.Getenv(agreesTo) == "" || os.Getenv("FERRUS_AGENT") != "" || slices.Contains(os.Args, "trust") {
		return
	}
	place, err := project.Find(context.Background(), rootOf(os.Args))
	if err != nil {
		return
	}
	_ = agreement.Agree(place.Root) // the command itself says what is wrong
}

// rootOf is the folder that a command line names, "" for the one it is run in.
func rootOf(args []string) string {
	dir := os.Getenv("FERRUS_ROOT")
	for i, arg := range args {
		if (arg == "-C" || arg == "--root") && i+1 < len(args) {
			dir = args[i+1]
		} else if after, ok := strings.CutPrefix(arg, "--root="); ok {
			dir = after
		}
	}
	return dir
}

// environOf is the environment of a process that a command of a script starts: that of this process, with what the script
// says of homes and trust.
func environOf(ts *testscript.TestScript, more ...string) []string {
	env := os.Environ()
	for _, name := range []string{"HOME", "PATH", "PAGER", agreesTo, trust.EnvTrust, trust.EnvStateDir, trust.EnvXDGState, trust.EnvXDGConf} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return append(env, more...)
}
