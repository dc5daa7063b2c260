package main

// content are the rigs that try to have other content judged, shown or run than what lies in the work tree.
var content = []Rig{
	{
		Name:    "hostile: the same size and time",
		Promise: "a change of content is seen whatever its size, its times and the settings of git, also a store through a mapping",
		Package: "./internal/worktree",
		Test:    "TestAChangeThatKeepsSizeAndTimeIsNoticed",
		Needs:   "Linux; ext4 and tmpfs for all of it",
		Mutants: []Mutant{
			{"pages are not written back before a file is entered", "internal/worktree/hash.go", "if err := writeBack(in); err != nil {", "if err := error(nil); err != nil {"},
			{"the change time is not compared", "internal/worktree/stat.go", "b.dev = a.dev", "b.dev, b.ctime = a.dev, a.ctime"},
			{"tmpfs is taken to date every change", "internal/worktree/stat_linux.go", "unix.XFS_SUPER_MAGIC:", "unix.TMPFS_MAGIC: true, unix.XFS_SUPER_MAGIC:"},
		},
	},
	{
		Name:    "hostile: young files",
		Promise: "a file that may be written again without a trace in its times is read again",
		Package: "./internal/worktree",
		Test:    "TestAYoungFileIsReadAgain",
		Needs:   "Linux and ext4",
		Mutants: []Mutant{
			{"the age of a file does not count", "internal/worktree/stat.go", "return a.ctime < now.Add(-step).UnixNano()", "return step > 0"},
		},
	},
	{
		Name:    "hostile: traps in the repository",
		Promise: "nothing that lies in the repository or its work trees is run by ferrus's calls of git",
		Package: "./internal/worktree",
		Test:    "TestNothingOfTheRepositoryRuns",
		Mutants: []Mutant{
			{"calls about files run in the project's git directory", "internal/worktree/fingerprint.go", `"GIT_DIR=" + t.repository(), "GIT_COMMON_DIR=" + t.repository(),`, `"GIT_DIR=" + t.gitDir, "GIT_COMMON_DIR=" + t.common,`},
			{"a linked work tree is found by its .git file", "internal/worktree/worktree.go", "root = o.Root\n", "root = dir\n"},
			{"hooks are not turned off", "internal/worktree/git.go", `"core.hooksPath="+`, `"core.askPass="+`},
		},
	},
	{
		Name:    "hostile: what a patch does not show",
		Promise: "what git is told to hide is named to the reviewer",
		Package: "./internal/worktree",
		Test:    "TestWhatAPatchDoesNotShowIsNamed",
		Mutants: []Mutant{
			{"a folder that ignores itself is as before", "internal/worktree/unseen.go", `if text, err = t.blobAt(ctx, base, source); err != nil {`, `if text = pattern; err != nil {`},
			{"rules of the repository are not frozen", "internal/worktree/repository.go", "if json.Unmarshal(text, &r.frozen) != nil {", "if json.Unmarshal(text, &r.frozen); len(text) < maxRules {"},
			{"nested repositories are not compared with their commits", "internal/worktree/unseen.go", "case len(dirty) > 0:", "case len(dirty) > 1<<20:"},
		},
	},
	{
		Name:    "hostile: approval of other bytes",
		Promise: "approve accepts the submitted bytes alone",
		Package: "./internal/engine",
		Test:    "TestAnApprovalBindsToTheBytes",
		Needs:   "Linux; ext4 and tmpfs for all of it",
		Mutants: []Mutant{
			{"pages are not written back before a file is entered", "internal/worktree/hash.go", "if err := writeBack(in); err != nil {", "if err := error(nil); err != nil {"},
			{"what is submitted is not compared", "internal/engine/review.go", "if overtaken(sub, tree) {", "if false {"},
		},
	},
}
