package main

// firstruns attack what a new user meets: agents that are missing, logged out or broken, and values that cannot work.
var firstruns = []Rig{
	{
		Name: "conductor: an agent that ends at once", Promise: "a broken agent is tried twice, and then a person is asked", Package: "./internal/hq",
		Test: "TestWhatRunsCountFor", Plain: true,
		Mutants: []Mutant{
			{"work in the journal does not count", "internal/hq/facts.go", "case written != r.At || !atOnce(", "case written < 0 || !atOnce("},
			{"it waits before the next one", "internal/hq/facts.go", "s.NotBefore = r.Ended; s.Alike == 0 {", "s.NotBefore = r.Ended; s.Alike >= 0 {"},
			{"every end is the same", "internal/hq/facts.go", "s.Alike > 0 && sameEnd(s.Last, r):", "s.Alike > 0:"},
		},
	},
	{
		Name: "ferrus.toml: no value that cannot work", Promise: "a value that would fail later is refused when the file is read", Package: "./internal/config",
		Test: "TestNoKeyTakesWhatCannotWork", Plain: true,
		Mutants: []Mutant{
			{"any agent will do", "internal/config/keys.go", `def: "codex", words: agentNames(),`, `def: "codex", filled: true,`},
			{"folders in use are given away", "internal/config/agree.go", "strings.HasPrefix(plain(dir), plain(other)) ||", "dir == other ||"},
			{"a day is too short", "internal/config/keys.go", "maxSecs = 24 * 60 * 60", "maxSecs = 9999999"},
		},
	},
	{
		Name: "register: ferrus run starts the same pair", Promise: "[hq] is edited and every other byte stays", Package: "./internal/register",
		Test: "TestTheConductorStartsWhoIsRegistered", Plain: true,
		Mutants: []Mutant{
			{"another agent's model stays", "internal/register/conduct.go", "if seat.Agent != was[role].Agent {", "if seat.Agent == \"-\" {"},
			{"a value is set a second time", "internal/register/conduct.go", "if !st.header && slices.Equal(st.path, path) {", "if st.header && slices.Equal(st.path, path) {"},
		},
	},
	{
		Name: "trust: a first run that cannot end well", Promise: "without checks or agents nothing is started", Package: "./cmd/ferrus",
		Test: "TestAFirstRun", Needs: "sh", Plain: true,
		Mutants: []Mutant{
			{"no checks are enough", "cmd/ferrus/startable.go", "if gate.Checks.Commands == nil {", "if gate.Checks.Commands == nil && root == \"\" {"},
			{"a missing program is started", "cmd/ferrus/startable.go", `os.Getenv("PATH")); missing != "" {`, `os.Getenv("PATH")); missing == "-" {`},
			{"who is logged out is started", "cmd/ferrus/startable.go", "if len(who.Args) == 0 && adapter.LoggedOut(ctx, environ) {", "if len(who.Args) == 9 && adapter.LoggedOut(ctx, environ) {"},
			{"a failing agent is started again", "cmd/ferrus/startable.go", "ran && hq.Failed(r)", "ran && hq.Failed(r) && role == \"\""},
			{"no branch is looked at", "cmd/ferrus/runparallel.go", "err = continuable(ctx, e, conf.Gate(), false)", "err = nil"},
			{"nobody is logged out", "internal/agents/login.go", "loggedOut.Match(said)", "said == nil"},
			{"a broken client plays a role", "cmd/ferrus/sighting.go", `return s.Broken == "" && !s.LoggedOut`, `return s.Broken != "-"`},
		},
	},
}
