package main

// clean attack what a verdict rests on: the files that the gate looks at, and the programs that it runs.
var clean = []Rig{
	{
		Name: "hostile: a good file swapped in", Promise: "a clean gate judges the files that are submitted, whatever is done to the work tree meanwhile",
		Package: "./internal/engine", Test: "TestAGoodFileIsSwappedIn", Plain: true,
	},
	{
		Name: "hostile: what a check leaves", Promise: "nothing that a gate's own commands wrote is there when the next one runs, and what they changed is not judged",
		Package: "./internal/engine", Test: "TestACheckLeavesNothingForTheNext", Plain: true,
	},
	{
		Name: "hostile: a checkout that was tampered with", Promise: "a checkout is exactly its tree, by the times of its files and by their content",
		Package: "./internal/worktree/checkout", Test: "TestACheckoutIsTheTree", Plain: true,
	},
	{
		Name: "hostile: an object that is another", Promise: "no object that somebody put in the place of another is laid out",
		Package: "./internal/worktree/checkout", Test: "TestAnObjectThatIsAnotherIsRefused", Plain: true,
	},
	{
		Name: "hostile: a layout that is cut off", Promise: "after a layout that was killed at any of its changes, the next one is whole",
		Package: "./internal/worktree/checkout", Test: "TestACutLayoutIsFinishedByTheNext", Plain: true,
	},
	{
		Name: "hostile: what the set-up made", Promise: "what the set-up made comes back from a copy that is not believed either",
		Package: "./internal/worktree/checkout", Test: "TestWhatTheSetUpMadeComesBack", Plain: true,
	},
	{
		Name: "hostile: a server with other programs", Promise: "checks run with what was frozen with the task from a person's environment",
		Package: "./internal/engine", Test: "TestAServersEnvironmentJudgesNothing", Plain: true,
	},
}
