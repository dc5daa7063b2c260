package main

// soaks let ferrus run on, to see what wears out.
var soaks = []Rig{
	{
		Name:    "soak",
		Promise: "nothing that was acknowledged is lost and nothing grows, however long agents and servers come and go",
		Package: "./internal/e2e",
		Test:    "TestNothingWearsOut",
		Needs:   "Linux",
	},
	{
		Name:    "calls that do not end",
		Promise: "no call is left without an answer: one that is stuck is answered, and its locks and goroutines are in the log",
		Package: "./internal/tools",
		Test:    "TestACallThatDoesNotEndIsAnswered",
		Plain:   true,
	},
	{
		Name:    "checks that are ended from outside",
		Promise: "whatever happens to a check, each call that waits for it is answered, and no process and no goroutine of it is left",
		Package: "./internal/tools",
		Test:    "TestACheckIsAnsweredWhateverHappens",
		Plain:   true,
	},
	{
		Name:    "a call that looked before a check ended",
		Promise: "the outcome of a check is handed out: a call that still saw it run begins no other, which would void it",
		Package: "./internal/engine",
		Test:    "TestACallThatLookedBeforeACheckEndedGetsItsOutcome",
		Plain:   true,
	},
	{
		Name:    "a .ferrus that was taken away",
		Promise: "no process that still works on it makes it anew",
		Package: "./internal/worktree/repository",
		Test:    "TestFerrusThatWasTakenAwayStaysAway",
		Plain:   true,
	},
	{
		Name:    "files that are saved later",
		Promise: "who waits for files to be kept waits for none that come later, and may wait while they come",
		Package: "./internal/engine",
		Test:    "TestNobodyWaitsForFilesThatAreKeptLater",
		Plain:   true,
	},
	{
		Name:    "a storm of calls",
		Promise: "every call is answered, whatever else is called and whatever a person does",
		Package: "./internal/e2e",
		Test:    "TestEveryCallIsAnswered",
	},
}
