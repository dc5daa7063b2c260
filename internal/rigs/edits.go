package main

const inWorktree = "internal/worktree/"

// edits try what ferrus does to files that somebody edits at the same moment.
var edits = []Rig{
	{
		Name: "edits: saves at every step", Promise: "a save while a file is replaced or removed is on disk or kept and named", Package: "./internal/worktree",
		Test: "TestNoEditIsLost", Needs: "Linux or macOS",
		Mutants: []Mutant{
			{"what is there is replaced", inWorktree + "move.go", "err := moveNew(staged, target)", "err := os.Rename(staged.path(), target.path())"},
			{"what is to go is unlinked", inWorktree + "move.go", "return m.takeOut(target, f)\n}", "return os.Remove(target.path())\n}"},
			{"what came out is not compared", inWorktree + "settle.go", "if !f.kept() {\n\t\treturn nil", "if f.at == \"\" {\n\t\treturn nil"},
			{"a program that has it open is overlooked", inWorktree + "settle.go", "if busy = busy || known && !unwritten(file); busy && f.kept() {", "if busy = false; busy && f.kept() {"},
			{"nothing is left to programs that have it open", inWorktree + "settle.go", "!known && left > 0", "!known && left > grace"},
			{"a folder that came out stays out", inWorktree + "move.go", "if ordinary(info) {\n\t\tm.took(f, staged.path())\n\t\treturn nil", "if ordinary(info) || info.IsDir() {\n\t\tm.took(f, staged.path())\n\t\treturn nil"},
		},
	},
	{
		Name: "edits: killed moves", Promise: "what a killed move had taken out of the work tree is found by the next one", Package: "./internal/worktree",
		Test: "TestNoEditIsLostWithAKilledRestore", Needs: "Linux or macOS",
		Mutants: []Mutant{
			{"nobody looks for it", inWorktree + "restore.go", "c.Edited, err = t.recover(ctx)", "c.Edited, err = nil, nil"},
			{"the plan is not written down", inWorktree + "move.go", "if err := m.record(); err != nil {", "if err := error(nil); err != nil {"},
		},
	},
	{
		Name: "edits: a person works in git", Promise: "what is added, committed, stashed or left for another commit meanwhile is on disk, there, or kept", Package: "./internal/worktree",
		Test: "TestAPersonWorksInGitMeanwhile", Needs: "Linux or macOS",
		Mutants: []Mutant{
			{"what is there is replaced", inWorktree + "move.go", "err := moveNew(staged, target)", "err := os.Rename(staged.path(), target.path())"},
		},
	},
	{
		Name: "edits: people at work", Promise: "rollbacks lose no save of people who edit in place, by renaming and through open files", Package: engineRoom,
		Test: "TestNoSaveIsLost", Needs: "Linux or macOS",
		Mutants: []Mutant{
			{"what is there is replaced", inWorktree + "move.go", "err := moveNew(staged, target)", "err := os.Rename(staged.path(), target.path())"},
		},
	},
	{
		Name: "edits: a rollback that meets an open file", Promise: "the file is named, and what is written there is in the result of the next one", Package: engineRoom,
		Test: "TestARollbackNamesWhatIsEditedMeanwhile", Needs: "Linux", Plain: true,
		Mutants: []Mutant{
			{"it is not named", "internal/engine/rollback.go", "return Rolled{done, moved}, err", "return Rolled{done, worktree.Change{Written: moved.Written}}, err"},
		},
	},
	{
		Name: "edits: a merge that meets an open file", Promise: "the file is named", Package: engineRoom,
		Test: "TestAMergeNamesWhatIsEditedMeanwhile", Needs: "Linux", Plain: true,
		Mutants: []Mutant{
			{"it is not named", "internal/engine/mergeland.go", "Tree: tree, Files: moved, Checks: res}", "Tree: tree, Checks: res}"},
		},
	},
	{
		Name: "edits: files of clients", Promise: "register replaces, makes and removes no file that somebody changes at that moment", Package: "./internal/register",
		Test: "TestAnEditOfTheLastMomentIsKept", Needs: "Linux or macOS", Plain: true,
		Mutants: []Mutant{
			{"what comes out is not looked at", "internal/register/write.go", "err != nil || !bytes.Equal(was, c.before) {", "err != nil || was == nil {"},
			{"a file that appears is replaced", "internal/register/write.go", "if err = rootfs.RenameNew(temp, target); errors.Is(err, fs.ErrExist) {", "if err = root.Rename(s.temp, c.target); errors.Is(err, fs.ErrExist) {"},
		},
	},
}
