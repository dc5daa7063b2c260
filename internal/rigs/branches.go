package main

const (
	engineRoom = "./internal/engine"
	fleetRoom  = "./internal/fleet"
	inFleet    = "internal/fleet/"
)

// branches try what is done in several work trees at a time: that each is there whole or not at all, that what comes of it
// is merged once and without loss, and that many go on at once.
var branches = []Rig{
	{
		Name: "branches: calls that are killed", Promise: "a branch is made, merged, given back and removed whole or not at all, and the same call finishes", Package: engineRoom,
		Test: "TestAKilledCallIsFinishedByTheSame", Needs: "a Unix system",
		Mutants: []Mutant{
			{"what is kept of another of that name stays", inEngine + "branch.go", "if _, err := own.Forget(ctx, on.Branch); err != nil {", "if _, err := own.Kept(ctx, on.Branch); err != nil {"},
			{"its files are kept under another name each time", inEngine + "branches.go", "if kept = keptName(on); kept == \"\" {", "if kept = \"\"; kept == \"\" {"},
		},
	},
	{
		Name: "branches: merges that are half moved", Promise: "the same call finishes a merge, and what a person has edited since is there or named", Package: engineRoom,
		Test: "TestAHalfMovedMergeIsFinished", Needs: "a Unix system",
		Mutants: []Mutant{
			{"nobody is ended at the project", inEngine + "merge.go", "return m.alone(ctx, m.now, nil, fenced)", "return m.alone(ctx, m.now, nil, nil)"},
			{"what is half moved is merged", inEngine + "mergeland.go", "if len(edited) == 0 {", "if len(edited) < 0 {"},
			{"an edit is written over", inEngine + "mergeland.go", "if len(got.Conflicts) > 0 {", "if len(got.Conflicts) > 99 {"},
		},
	},
	{
		Name: "branches: merges as git's", Promise: "a merge brings in what git makes of both sides, or changes nothing", Package: engineRoom,
		Test: "TestMergesAsGitWould", Needs: "a Unix system",
		Mutants: []Mutant{
			{"the project's side is the base", inEngine + "merge.go", "m.into.Merge(ctx, m.was.Task.BaseTree, m.ours, m.theirs)", "m.into.Merge(ctx, m.ours, m.ours, m.theirs)"},
			{"conflicts are brought in", inEngine + "merge.go", "if len(got.Conflicts) > 0 {", "if len(got.Conflicts) > 99 {"},
			{"it is merged again", inEngine + "merge.go", "case there.Merged != \"\":", "case there.Merged == \"-\":"},
		},
	},
	{
		Name: "branches: what a merge has tried", Promise: "what was tried on a branch is taken back, and what a person has edited there is not", Package: engineRoom,
		Test: "TestWhatWasTriedIsTakenBack", Needs: "a Unix system",
		Mutants: []Mutant{
			{"what was judged stays", inEngine + "merge.go", "\t\tif wrong == nil {\n\t\t\twrong = m.back(ctx, id)\n\t\t}\n\t\terr = errors.Join(err, wrong)", "\t\twrong = errors.Join(wrong, m.forget(ctx))\n\t\terr = errors.Join(err, wrong)"},
			{"an edit is taken back too", inEngine + "merge.go", "if len(changed) > 0 {", "if len(changed) > 0 && cut == \"\" {"},
		},
	},
	{
		Name: "branches: merges that do not fit", Promise: "the gate judges the whole, and both sides stay as they are", Package: engineRoom, Test: "TestAMergeThatDoesNotFitChangesNothing", Plain: true,
		Mutants: []Mutant{
			{"the gate is not asked", inEngine + "merge.go", "if run.Status != checks.Passed {", "if run.Status == \"-\" {"},
		},
	},
	{
		Name: "fleet: so many at a time", Promise: "so many tasks go on at a time, and no more", Package: fleetRoom, Test: "TestSoManyTasksAtATimeAndNoMore", Needs: "a Unix system",
		Mutants: []Mutant{
			{"one more", inFleet + "fleet.go", "return n < f.Parallel", "return n <= f.Parallel"},
			{"one less", inFleet + "fleet.go", "return n < f.Parallel", "return n < f.Parallel-1"},
		},
	},
	{
		Name: "fleet: a fleet that is killed", Promise: "the next one goes on: no task is lost, or done twice", Package: fleetRoom, Test: "TestAFleetThatIsKilledGoesOn", Needs: "a Unix system",
		Mutants: []Mutant{
			{"what has its task is given it again", inFleet + "take.go", "if now.Task.TaskID != \"\" {", "if now.Task.TaskID == \"-\" {"},
			{"what has its branch is lost", inFleet + "take.go", "if engine.CodeOf(err) == engine.UnknownBranch {", "if err != nil || now.Task.TaskID == \"\" {"},
			{"what is taken waits still", inFleet + "take.go", "err = queue.Taken(it)", "_ = queue.Taken"},
		},
	},
	{
		Name: "fleet: several attempts", Promise: "of several attempts that one is merged which was chosen, or alone came to something", Package: fleetRoom, Test: "TestOneOfSeveralAttemptsIsMerged",
		Plain: true, Needs: "a Unix system",
		Mutants: []Mutant{
			{"the first is merged", inFleet + "merge.go", "if len(others) == 0 {", "if len(others) >= 0 {"},
			{"who had to wait waits for ever", inFleet + "merge.go", "refused{why: why}) // until the others have moved on", "refused{now.Task.Seq, project.Task.Seq, why, false})"},
			{"what was selected is like any other", inFleet + "merge.go", "\tif t.Selected {\n", "\tif t.Selected && t.Merged != \"\" {\n"},
		},
	},
}
