package main

// foreign are the tests of what was not made here: processes below an agent, and state from elsewhere.
var foreign = []Rig{
	{
		Name: "hostile: a decision below an executor", Promise: "nothing below an executor of the project serves a supervisor, or speaks for a person",
		Package: "./internal/ancestry", Test: "TestWhoDescendsFromAnExecutor", Plain: true,
	},
	{
		Name: "hostile: state from elsewhere", Promise: "a journal that was not written on this machine is refused, wherever it comes from",
		Package: "./internal/engine", Test: "TestStateFromElsewhereIsNotUsed", Plain: true,
	},
	{
		Name: "hostile: what git tracks", Promise: "a commit brings no control file",
		Package: "./internal/engine", Test: "TestWhatGitTracksIsNotState", Plain: true,
	},
	{
		Name: "hostile: another user's folders", Promise: "what another user owns is neither found nor used, unless git's safe.directory accepts it",
		Package: "./internal/engine", Test: "TestAnotherUsersStateIsNotUsed", Plain: true,
	},
	{
		Name: "hostile: one question at most", Promise: "an upgrade, a backup, a copy, a fresh HOME: at most one question",
		Package: "./internal/engine", Test: "TestOneQuestionAtMost", Plain: true,
	},
}
