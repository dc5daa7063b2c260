package main

const delegatePackage = "./internal/delegate"

// delegates try what passes between the machine of an executor and those of its delegates.
var delegates = []Rig{
	{
		Name: "delegates: work that moves in", Promise: "approved work of a delegate moves in once, the executor keeps its claim, and nothing is submitted before",
		Package: delegatePackage, Test: "TestTheWorkOfADelegateMovesIn", Plain: true,
	},
	{
		Name: "delegates: nobody waits for the dead", Promise: "a delegate that failed, was removed or needs a person has ended", Package: delegatePackage,
		Test: "TestNobodyWaitsForADeadDelegate", Plain: true,
	},
	{
		Name: "delegates: a stale executor", Promise: "only the executor that has the claim decides, and on what it was shown", Package: delegatePackage,
		Test: "TestAStaleExecutorDecidesNothing", Plain: true,
	},
	{
		Name: "delegates: work that does not fit", Promise: "it goes back with both sides, and nothing is lost", Package: delegatePackage, Test: "TestWorkThatDoesNotFitGoesBack", Plain: true,
	},
	{
		Name: "delegates: limits", Promise: "a task has no more delegates than it may, and a delegate has none", Package: delegatePackage, Test: "TestADelegateCannotDelegate", Plain: true,
	},
	{
		Name: "delegates: questions", Promise: "a delegate asks its executor, and nobody else", Package: delegatePackage, Test: "TestADelegateAsksItsExecutor", Plain: true,
	},
	{
		Name: "delegates: rollbacks", Promise: "a rollback takes the delegates back to where they had come then, and the same command finishes", Package: delegatePackage,
		Test: "TestARollbackTakesTheDelegatesBack", Plain: true,
	},
	{
		Name: "delegates: the end of a task", Promise: "it ends the delegates of the task", Package: delegatePackage, Test: "TestTheEndOfATaskEndsItsDelegates", Plain: true,
	},
	{
		Name: "delegates: branches", Promise: "a branch has no delegate of its parent, and a branch of a delegate is nobody's", Package: delegatePackage,
		Test: "TestABranchHasNoDelegatesOfItsParent", Plain: true,
	},
	{
		Name: "delegates: a half moved delegate", Promise: "the next process finishes the move before anybody claims the work", Package: delegatePackage,
		Test: "TestAHalfMovedDelegateIsFinished", Plain: true,
	},
	{
		Name: "delegates: people", Promise: "a person neither merges a delegate nor approves it in place of its executor", Package: delegatePackage,
		Test: "TestADelegateIsNotMergedByAPerson", Plain: true,
	},
	{
		Name: "family: killed", Promise: "whenever the conductor is killed the next one comes to the same end, and nobody works twice", Package: "./internal/family",
		Test: "TestAKilledFamilyGoesOn", Plain: true, Needs: "a Unix system",
	},
	{
		Name: "family: a task and its delegates", Promise: "a delegate that is killed goes on, one that is rejected is corrected, and one that cannot work ends", Package: "./internal/family",
		Test: "TestAFamilyWorks", Plain: true, Needs: "a Unix system",
	},
	{
		Name: "delegates: decisions of the dead", Promise: "what an executor decided before it was killed is carried out once, and its successor moves the files", Package: delegatePackage,
		Test: "TestADecisionOfAKilledExecutorIsCarriedOut", Plain: true,
	},
	{
		Name: "family: killed at every line", Promise: "a conductor or an executor that is killed at any line of the journals changes nothing of the end", Package: "./internal/family",
		Test: "TestAFamilyKilledAtEveryLine", Needs: "a Unix system",
	},
	{
		Name: "delegates: rollbacks past the lost", Promise: "a rollback does not stop at a delegate that was reset", Package: delegatePackage,
		Test: "TestARollbackPassesByADelegateThatWasReset", Plain: true,
	},
	{
		Name: "delegates: walks of two whole machines", Promise: "whatever happens to a task and its delegates, each ends once, work moves in once, and the task comes to its submission",
		Package: delegatePackage, Test: "TestWalksOfAFamily",
	},
}
