package main

// content are the rigs that try to have other content judged, shown or run than what lies in the work tree.
var content = []Rig{
	{
		Name:    "hostile: the same size and time",
		Promise: "a change of content is seen whatever its size, its times and the settings of git, also a store through a mapping",
		Package: "./internal/worktree",
		Test:    "TestAChangeThatKeepsSizeAndTimeIsNoticed",
		Needs:   "Linux; ext4 and tmpfs for all of it",
	},
	{
		Name:    "hostile: young files",
		Promise: "a file that may be written again without a trace in its times is read again",
		Package: "./internal/worktree",
		Test:    "TestAYoungFileIsReadAgain",
		Needs:   "Linux and ext4",
	},
	{
		Name:    "hostile: traps in the repository",
		Promise: "nothing that lies in the repository or its work trees is run by ferrus's calls of git",
		Package: "./internal/worktree",
		Test:    "TestNothingOfTheRepositoryRuns",
	},
	{
		Name:    "hostile: what a patch does not show",
		Promise: "what git's marks hide is named to the reviewer",
		Package: "./internal/worktree",
		Test:    "TestWhatAPatchDoesNotShowIsNamed",
	},
	{
		Name:    "hostile: approval of other bytes",
		Promise: "approve accepts the submitted bytes alone",
		Package: "./internal/engine",
		Test:    "TestAnApprovalBindsToTheBytes",
		Needs:   "Linux; ext4 and tmpfs for all of it",
	},
}
