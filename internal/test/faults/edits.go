package main

// edits try what ferrus does to files that somebody edits at the same moment.
var edits = []Rig{
	{
		Name: "edits: saves at every step", Promise: "a save while a file is replaced or removed is on disk or kept and named", Package: "./internal/worktree/restore",
		Test: "TestNoEditIsLost", Needs: "Linux or macOS",
	},
	{
		Name: "edits: killed moves", Promise: "what a killed move had taken out of the work tree is found by the next one", Package: "./internal/worktree/restore",
		Test: "TestNoEditIsLostWithAKilledRestore", Needs: "Linux or macOS",
	},
	{
		Name: "edits: a person works in git", Promise: "what is added, committed, stashed or left for another commit meanwhile is on disk, there, or kept", Package: "./internal/worktree/restore",
		Test: "TestAPersonWorksInGitMeanwhile", Needs: "Linux or macOS",
	},
	{
		Name: "edits: people at work", Promise: "rollbacks lose no save of people who edit in place, by renaming and through open files", Package: enginePackage,
		Test: "TestNoSaveIsLost", Needs: "Linux or macOS",
	},
	{
		Name: "edits: a rollback that meets an open file", Promise: "the file is named, and what is written there is in the result of the next one", Package: enginePackage,
		Test: "TestARollbackNamesWhatIsEditedMeanwhile", Needs: "Linux", Plain: true,
	},
	{
		Name: "edits: a merge that meets an open file", Promise: "the file is named", Package: "./internal/branch",
		Test: "TestAMergeNamesWhatIsEditedMeanwhile", Needs: "Linux", Plain: true,
	},
	{
		Name: "edits: files of clients", Promise: "register replaces, makes and removes no file that somebody changes at that moment", Package: "./internal/agents/register",
		Test: "TestAnEditOfTheLastMomentIsKept", Needs: "Linux or macOS", Plain: true,
	},
}
