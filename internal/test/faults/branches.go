package main

const (
	enginePackage = "./internal/engine"
	fleetPackage  = "./internal/fleet"
)

// branches try what is done in several work trees at a time: that each is there whole or not at all, that what comes of it
// is merged once and without loss, and that many go on at once.
var branches = []Rig{
	{
		Name: "branches: calls that are killed", Promise: "a branch is made, merged, given back and removed whole or not at all, and the same call finishes", Package: "./internal/branch",
		Test: "TestAKilledCallIsFinishedByTheSame", Needs: "a Unix system",
	},
	{
		Name: "branches: merges that are half moved", Promise: "the same call finishes a merge, and what a person has edited since is there or named", Package: "./internal/branch",
		Test: "TestAHalfMovedMergeIsFinished", Needs: "a Unix system",
	},
	{
		Name: "branches: merges as git's", Promise: "a merge brings in what git makes of both sides, or changes nothing", Package: "./internal/branch",
		Test: "TestMergesAsGitWould", Needs: "a Unix system",
	},
	{
		Name: "branches: what a merge has tried", Promise: "what was tried on a branch is taken back, and what a person has edited there is not", Package: "./internal/branch",
		Test: "TestWhatWasTriedIsTakenBack", Needs: "a Unix system",
	},
	{
		Name: "branches: merges that do not fit", Promise: "the gate judges the whole, and both sides stay as they are", Package: "./internal/branch", Test: "TestAMergeThatDoesNotFitChangesNothing", Plain: true,
	},
	{
		Name: "branches: marks that are handed in", Promise: "files with marks of a conflict that ferrus wrote are not submitted, whatever the checks say", Package: "./internal/branch",
		Test: "TestAMergeThatDoesNotFitChangesNothing", Plain: true,
	},
	{
		Name: "branches: marks that are approved", Promise: "files with marks of a conflict that ferrus wrote are not merged", Package: "./internal/branch", Test: "TestMarksOfAConflictAreNotMerged", Plain: true,
	},
	{
		Name: "fleet: so many at a time", Promise: "so many tasks go on at a time, and no more", Package: fleetPackage, Test: "TestSoManyTasksAtATimeAndNoMore", Needs: "a Unix system",
	},
	{
		Name: "fleet: a fleet that is killed", Promise: "the next one goes on: no task is lost, or done twice", Package: fleetPackage, Test: "TestAFleetThatIsKilledGoesOn", Needs: "a Unix system",
	},
	{
		Name: "fleet: several attempts", Promise: "of several attempts that one is merged which was chosen, or alone came to something", Package: fleetPackage, Test: "TestOneOfSeveralAttemptsIsMerged",
		Plain: true, Needs: "a Unix system",
	},
}
