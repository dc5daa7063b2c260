package main

const treePackage = "./internal/worktree"

// history tries what is promised about the past: that it is saved, that it can be returned to, and what may be cleared away.
var history = []Rig{
	{
		Name: "history: a collection in the middle of a keep", Promise: "what is saved is there, whatever git gc deletes meanwhile", Package: treePackage,
		Test: "TestACollectionInTheMiddleOfAKeep", Plain: true,
	},
	{
		Name: "history: trees that are forgotten", Promise: "a saved tree is whole, whatever has been forgotten before", Package: treePackage,
		Test: "TestAForgottenTreeIsNotBuiltUpon", Plain: true,
	},
	{
		Name: "history: what is restored", Promise: "the files are those of the tree, and nothing goes that is in no snapshot", Package: "./internal/worktree/restore", Test: "TestWhatIsRestored", Plain: true,
	},
	{
		Name: "history: merges", Promise: "equal trees merge equally, whatever the user's settings, and touch nothing of the user's", Package: treePackage, Test: "TestMerges", Plain: true,
	},
	{
		Name: "history: pauses on pauses", Promise: "a rollback of a pause takes along what lies on it, and nothing that came later", Package: "./internal/engine",
		Test: "TestARollbackOfAPauseTakesWhatLiesOnItAlong",
	},
	{
		Name: "history: what is cleared away", Promise: "what ended long ago goes, whatever of it has gone already, and nothing else does", Package: "./internal/gc",
		Test: "TestWhatEndedLongAgoGoes", Plain: true,
	},
	{
		Name: "history: what is not cleared away", Promise: "what a machine still has is never cleared away", Package: "./internal/gc", Test: "TestATaskThatAnyMachineHasStays",
	},
}
