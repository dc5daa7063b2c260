package main

// soaks let ferrus run on, to see what wears out.
var soaks = []Rig{
	{
		Name:    "soak",
		Promise: "nothing that was acknowledged is lost and nothing grows, however long agents and servers come and go",
		Package: "./internal/e2e",
		Test:    "TestNothingWearsOut",
		Needs:   "Linux",
		Mutants: []Mutant{
			{"a wait leaves its watch behind", "internal/engine/await.go", "\tdefer bell.Close()\n", ""},
			{"an inotify instance is not closed", "internal/store/watch.go", "go b.watcher.Close()", "_ = b.watcher.Close"},
		},
	},
	{
		Name:    "calls that do not end",
		Promise: "no call is left without an answer: one that is stuck is answered, and its locks and goroutines are in the log",
		Package: "./internal/tools",
		Test:    "TestACallThatDoesNotEndIsAnswered",
		Plain:   true,
		Mutants: []Mutant{
			{"nobody looks how long a call takes", "internal/tools/wire/watchdog.go", "case <-limit.C:", "case <-(chan time.Time)(nil):"},
			{"the log has no goroutines", "internal/tools/wire/watchdog.go", `"stacks", stacks)`, `"stacks", len(stacks))`},
			{"a call is cancelled before it is looked at", "internal/tools/wire/watchdog.go", "	w.stuck.Add(1)\n", "	w.stuck.Add(1)\n	cancel(ErrStuck)\n	<-done\n"},
		},
	},
	{
		Name:    "checks that are ended from outside",
		Promise: "whatever happens to a check, each call that waits for it is answered, and no process and no goroutine of it is left",
		Package: "./internal/tools",
		Test:    "TestACheckIsAnsweredWhateverHappens",
		Plain:   true,
		Mutants: []Mutant{
			{"a check waits for its end", "internal/engine/gate.go", "	case <-over.C:\n		snap, err = s.e.View()", "	case <-(chan time.Time)(nil):\n		snap, err = s.e.View()"},
			{"the end of its task is overlooked", "internal/engine/gate.go", "if err == nil && !current(now, began) || CodeOf", "if err != nil && !current(now, began) || CodeOf"},
			{"a check leaves its watch behind", "internal/engine/gate.go", "which may take a while\n	defer bell.Close()\n", "which may take a while\n"},
			{"commands are not ended with their task", "internal/engine/gate.go", "				run.Stop()\n				<-run.Done()", "				_ = run.Done()"},
		},
	},
	{
		Name:    "a call that looked before a check ended",
		Promise: "the outcome of a check is handed out: a call that still saw it run begins no other, which would void it",
		Package: "./internal/engine",
		Test:    "TestACallThatLookedBeforeACheckEndedGetsItsOutcome",
		Plain:   true,
		Mutants: []Mutant{{"what was seen is believed", "internal/engine/gate.go", "(was.Seq > is.Seq || was.Check", "(was.Check"}},
	},
	{
		Name:    "a .ferrus that was taken away",
		Promise: "no process that still works on it makes it anew",
		Package: "./internal/worktree",
		Test:    "TestFerrusThatWasTakenAwayStaysAway",
		Plain:   true,
		Mutants: []Mutant{{"it is made where it is missing", "internal/rootfs/rootfs.go", "if perm != 0 && filepath.Base(base) != top {", "if perm != 0 {"}},
	},
	{
		Name:    "files that are kept later",
		Promise: "who waits for files to be kept waits for none that come later, and may wait while they come",
		Package: "./internal/engine",
		Test:    "TestNobodyWaitsForFilesThatAreKeptLater",
		Plain:   true,
		Mutants: []Mutant{{"the newest is waited for", "internal/engine/kept.go", "		<-last\n", "		<-last\n		<-k.last\n"}},
	},
	{
		Name:    "a storm of calls",
		Promise: "every call is answered, whatever else is called and whatever a person does",
		Package: "./internal/e2e",
		Test:    "TestEveryCallIsAnswered",
		Mutants: []Mutant{
			{"a lock is not dropped", "internal/engine/gate.go", "		j.told = true\n		j.mu.Unlock()\n", "		j.told = true\n"},
		},
	},
}
